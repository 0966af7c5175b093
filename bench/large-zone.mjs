/** A program that makes the same records as `largeZone`. */
export const largeProgram = (records) => `import { A, CNAME, MX, TXT, zone } from 'zonewright/definition'
const kinds = [
  (name: string, i: number) => A(name, \`198.51.100.\${i % 256}\`),
  (name: string, i: number) => CNAME(name, \`target-\${i}.example.net.\`),
  (name: string, i: number) => TXT(name, \`record number \${i}\`),
  (name: string, i: number) => MX(name, { preference: 10, exchange: \`mail-\${i}.example.net.\` }),
]
zone('large.example', {}, Array.from({ length: ${records} }, (_, i) => kinds[i % 4]!(\`host-\${i}.group-\${i % 97}\`, i)))
`

/** A definition in the octoDNS layout and the block style that people write: addresses, aliases, texts and mail in equal parts. */
export function largeZone(records) {
  const lines = []
  for (let i = 0; i < records; i += 1) {
    const name = `host-${i}.group-${i % 97}`
    const value = [
      () => `  type: A\n  value: 198.51.100.${i % 256}`,
      () => `  type: CNAME\n  value: target-${i}.example.net.`,
      () => `  type: TXT\n  value: "record number ${i}"`,
      () => `  type: MX\n  value:\n    preference: 10\n    exchange: mail-${i}.example.net.`,
    ][i % 4]()
    lines.push(`${name}:\n${value}`)
  }
  return `${lines.join('\n')}\n`
}
