/** The scripts that let shells complete command lines. Each calls `zonewright __complete` with the words up to the cursor. */

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

export const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_zonewright() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done \\
    < <(zonewright __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _zonewright zonewright
`,
  zsh: `#compdef zonewright
_zonewright() {
  local line
  local -a candidates
  for line in "\${(@f)$(zonewright __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${line#*$'\\t'}:+:\${line#*$'\\t'}}")
  done
  if (( $#candidates )); then _describe zonewright candidates; else _files; fi
}
if [[ $funcstack[1] == _zonewright ]]; then _zonewright "$@"; else compdef _zonewright zonewright; fi
`,
  fish: `function __zonewright_candidates
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l found (zonewright __complete $words[2..] "$word" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$word"
  end
end
complete -c zonewright -f -a '(__zonewright_candidates)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName zonewright -ScriptBlock {
  param($word, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '""' }
  zonewright __complete @words 2>$null | ForEach-Object {
    $value, $meaning = $_ -split "\`t", 2
    if (-not $meaning) { $meaning = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
  }
}
`,
}
