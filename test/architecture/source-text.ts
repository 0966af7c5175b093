import { PURE_FOLDERS } from './rules.ts'

/** A rule about the text of one file, for what imports do not show. */
export type TextRule = { readonly name: string; readonly files: RegExp; readonly pattern: RegExp }
const pure = new RegExp(`^src/(?:${PURE_FOLDERS.join('|')})/`)

export const TEXT_RULES: readonly TextRule[] = [
  {
    name: 'pure-clock',
    files: pure,
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\.|\bset(?:Timeout|Interval|Immediate)\b/,
  },
  {
    name: 'pure-randomness',
    files: pure,
    pattern: /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync)\b|\bgetRandomValues\b|\bcrypto\.random/,
  },
  { name: 'pure-process', files: pure, pattern: /\bprocess\.|\bglobalThis\b|\bfetch\(/ },
  {
    name: 'net-only-isip',
    files: /^src\/(?!transport\/|service\/)/,
    pattern: /^(?!import \{ isIP(?:v[46])?(?:, isIP(?:v[46])?)* \} from 'node:net'$).*(?:from |import\(|require\()'(?:node:)?net'/,
  },
  {
    name: 'pure-crypto-only-hashes-and-public-keys',
    files: pure,
    pattern:
      /^(?!import (?:type )?\{ (?:(?:type )?(?:createHash|createHmac|createPublicKey|timingSafeEqual|Hash|Hmac|KeyObject)(?:, )?)+ \} from 'node:crypto'$).*(?:from |import\(|require\()'(?:node:)?crypto'/,
  },
  {
    name: 'node-prefix',
    files: /^src\//,
    pattern: /\bfrom '(?:fs|path|url|net|dgram|crypto|http|https|os|util|buffer|events)(?:\/promises)?'/,
  },
  {
    // Text from users is matched by src/base/linear-pattern.ts. These files join constants of their own, or read patterns of our schemas.
    name: 'no-regexp-from-text',
    files: /^src\/(?!base\/json-schema|providers\/cloud\/record-rules|checks\/rules\/caa-rules|definition\/yaml\/editable-yaml)/,
    pattern: /\bRegExp\(/,
  },
  {
    // `counted` and `agreeing` of src/base/english.ts.
    name: 'no-hand-made-plural',
    files: /^src\/(?!base\/english\.ts)/,
    pattern: /=== 1 \? '[a-z ]*' : '[a-z ]*s?'/,
  },
  { name: 'no-default-export', files: /^src\//, pattern: /^export default\b|\bas default\b/ },
  { name: 'no-enum-or-namespace', files: /^src\//, pattern: /^(?:export )?(?:declare )?(?:const )?(?:enum|namespace) / },
]

/** Lines of the file that break a rule, comments excluded: `rule file:line`. */
export function textFindings(file: string, text: string): string[] {
  const rules = TEXT_RULES.filter(({ files }) => files.test(file))
  if (rules.length === 0) return []
  const findings: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) continue
    for (const { name, pattern } of rules) if (pattern.test(line)) findings.push(`${name} ${file}:${index + 1}`)
  }
  return findings
}

/** The places of home directories and other paths of one machine: `file:line`. */
export function machinePaths(file: string, text: string): string[] {
  const place = new RegExp(`(?:^|[\\s"'\`(=:])/(?:${['home', 'Users', 'work', 'root'].join('|')})/[\\w.-]|\\b[A-Z]:\\\\Users\\\\`)
  return text.split('\n').flatMap((line, index) => (place.test(line) ? [`${file}:${index + 1}`] : []))
}
