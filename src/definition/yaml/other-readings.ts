/** What readers of YAML 1.1 (https://yaml.org/type/) or 1.2 (section 10.3.2) take for something else than text. */
const NOT_TEXT: readonly RegExp[] = [
  /^(?:~|null|Null|NULL)?$/,
  /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  // Integers: binary, octal, decimal, hexadecimal, base 60.
  /^[-+]?(?:0b[01_]+|0o?[0-7_]+|[0-9][0-9_]*|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?$/,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/,
  /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$/,
  /^(?:<<|=)$/,
]

/** What PyYAML, and octoDNS with it, refuses as a plain scalar in a flow collection: `[::1, a?b]`. */
const NOT_PLAIN_IN_FLOW = /^:|\?/

const MAY_BE_OTHER = /^(?:[-+.0-9~<=]|[yYnNtTfFoO])|^$/

/** Whether every reader of YAML takes the plain scalar for text, wherever it stands. Addresses such as 192.0.2.1 are text. */
export function isTextForAll(text: string): boolean {
  if (NOT_PLAIN_IN_FLOW.test(text)) return false
  if (!MAY_BE_OTHER.test(text)) return true
  return !NOT_TEXT.some((pattern) => pattern.test(text))
}
