/**
 * The names that octoDNS reads for scalars without quotes. octoDNS reads YAML 1.1, in which `1.10` is the number 1.1, `010` is 8 and `on` is true, and uses
 * the value as Python prints it (PyYAML's resolver.py and constructor.py).
 */

/** The name that octoDNS reads for a plain scalar. Scalars that begin with a dot are left as they are, because no name can. */
export function octodnsName(text: string): string {
  if (/^(?:yes|Yes|YES|on|On|ON|True|TRUE)$/.test(text)) return 'true'
  if (/^(?:no|No|NO|off|Off|OFF|False|FALSE)$/.test(text)) return 'false'
  if (/^(?:~|null|Null|NULL)$/.test(text)) return 'none'
  const [, sign, digits] = /^([-+]?)([0-9].*)$/.exec(text) ?? []
  if (digits === undefined) return text
  const bare = digits.replaceAll('_', '')
  const value = integerOf(bare, digits) ?? decimalOf(bare, digits)
  return value === null ? text : `${sign === '-' && value !== '0' ? '-' : ''}${value}`
}

function integerOf(bare: string, digits: string): string | null {
  if (/^(?:0|[1-9][0-9_]*)$/.test(digits) || /^0(?:b_*[01][01_]*|x_*[0-9a-fA-F][0-9a-fA-F_]*)$/.test(digits)) return String(BigInt(bare))
  if (/^0[0-7_]+$/.test(digits)) return String(BigInt(`0o${bare}`))
  return /^[1-9][0-9_]*(?::[0-5]?[0-9])+$/.test(digits) ? String(base60(bare)) : null
}

function decimalOf(bare: string, digits: string): string | null {
  if (/^[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?$/.test(digits)) return printedByPython(Number(bare))
  return /^[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/.test(digits) ? printedByPython(base60(bare)) : null
}

const base60 = (digits: string): number => digits.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

/** Python and JavaScript both print the fewest digits that identify the number, but switch to an exponent at different sizes. */
function printedByPython(value: number): string {
  const isReusable = value === 0 || (value >= 1e-4 && value < 1e16)
  const [digits = '', exponent = ''] = (isReusable ? String(value) : value.toExponential()).split('e')
  if (!isReusable) return `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`
  return digits.includes('.') ? digits : `${digits}.0`
}
