/** How the commands that bring zones in and let them out are described. */
import { type Command, Option } from 'commander'
import { EXPORT_FORMATS, IMPORT_FORMATS } from '../convert/formats.ts'
import { collect, positiveInteger, serialNumber, ttl } from './option-values.ts'

const writing = (command: Command): Command =>
  command
    .option('--force', 'replace files that are there')
    .option('--dry-run', 'write nothing; name the files')
    .option('--lossy', 'leave out what cannot be held; each thing is a warning')

export const describeImport = (command: Command): Command =>
  writing(command.usage('[options] <format> <source> [zone...]\n       zonewright import [options] --from <provider> [zone...]'))
    .argument('[args...]', `format (${IMPORT_FORMATS.join(', ')}), source, and zones (default: all)`)
    .option('--from <provider>', 'from a provider of the configuration: short for "import provider"')
    .option('-o, --out <dir>', 'the folder for the definitions (default: one is shown on standard output)')
    .option('--tsig <key>', 'axfr: [ALGORITHM:]NAME:SECRET, its secret as env:NAME or file:PATH (default algorithm: hmac-sha256)')
    .option('--timeout <seconds>', 'axfr: wait so long for each message', positiveInteger)
    .option('--via-service <nameserver>', 'provider: have it make the zones first, by a transfer from this name server')
    .option('--clone <zone>', 'provider: have it make the zone first, as a copy of this one')
    .option('-y, --yes', 'with --via-service and --clone: do not ask')
    .option('--parallelism <n>', 'provider: requests under way at once', positiveInteger)
    .addHelpText('after', IMPORT_HELP)

const IMPORT_HELP = `
Examples:
  zonewright import zonefile /var/named -o zones
  zonewright import axfr 192.0.2.53 example.com -o zones
  zonewright import octodns config -o zones
  zonewright import dnscontrol ir.json -o zones
  zonewright import --from cloud -o zones

Everything is written or nothing. What would be written is loaded and compared
with its source first, record by record.`

export const describeExport = (command: Command): Command =>
  writing(command.usage('[options] <format> [zone...]'))
    .argument('[args...]', `format (${EXPORT_FORMATS.join(', ')}), and zones (default: all)`)
    .option('--to <format>', 'the format, instead of the first argument')
    .option('-o, --out <path>', 'the file, or the folder of several (default: standard output)')
    .addOption(
      new Option('--ns <name>', 'zonefile: a name server for zones without NS records (repeatable)').argParser(collect).default([], 'none'),
    )
    .option('--serial <n>', 'zonefile: the serial of the SOA records', serialNumber, 1)
    .option('--canonical', 'zonefile: one record a line, all names absolute')
    .addHelpText('after', EXPORT_HELP)

const EXPORT_HELP = `
Examples:
  zonewright export zonefile example.com --ns ns1.example.net.
  zonewright export octodns -o config
  zonewright export csv -o records.csv`

/** The edits that `record` makes, with what each does. */
export const RECORD_ACTIONS = [
  ['add', 'add values to a record'],
  ['set', 'make a record have these values and no others'],
  ['remove', 'remove a record, or values of it'],
] as const

export const RECORD_HELP = `
Examples:
  zonewright record add example.com www A 192.0.2.10 --ttl 5m
  zonewright record set example.com @ MX '10 mail' '20 mx.example.net.'
  zonewright record remove example.com old CNAME`

/** One of the edits, a command below `record`. */
export const describeRecord = (command: Command, action: 'add' | 'set' | 'remove'): Command => {
  const described = command
    .argument('<zone>')
    .argument('<name>', "relative to the zone, '@' for the apex, absolute with a final dot")
    .argument('<type>')
    .argument(
      action === 'remove' ? '[value...]' : '<value...>',
      action === 'remove' ? 'default: all' : 'as in a zone file; TXT as its text',
    )
    .option(
      '--file <path>',
      action === 'remove'
        ? 'only values of this file, which the definition includes'
        : 'put new values in this file, which the definition includes',
    )
    .option('--all-zones', 'change a file that other zones include too')
    .option('--dry-run', 'write nothing; show the change')
  return action === 'remove' ? described : described.option('--ttl <ttl>', 'of all records of the name and type, such as 300 or 1h', ttl)
}
