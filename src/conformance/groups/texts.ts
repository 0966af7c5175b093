/** TXT records around the limits of strings and with characters that need escapes. */
import type { ConformanceGroup } from '../step.ts'
import { group, step } from '../step.ts'

/** Strings of at most 255 octets (RFC 1035 section 3.3). */
function textOf(length: number, character: string): string {
  const strings: string[] = []
  for (let rest = length; rest > 0 || strings.length === 0; rest -= 255) strings.push(`"${character.repeat(Math.min(rest, 255))}"`)
  return strings.join(' ')
}

const long = (length: number, character: string) => step(`a ${length}-byte TXT`, `foo${length} TXT ${textOf(length, character)}`)

export const TEXT_GROUPS: readonly ConformanceGroup[] = [
  group(27, 'complex TXT', [
    long(0, 'a'),
    long(254, 'B'),
    long(255, 'C'),
    long(256, 'D'),
    long(509, 'C'),
    long(510, 'D'),
    long(511, 'E'),
    long(764, 'F'),
    long(765, 'G'),
    long(766, 'H'),
    step('TXT with 1 single-quote', `foosq TXT "quo'te"`),
    step('TXT with 1 backtick', 'foobt TXT "blah`blah"'),
    step('TXT with 1 dq-1interior', String.raw`foodq TXT "in\"side"`),
    step('TXT with 2 dq-2interior', String.raw`foodqs TXT "in\"ter\"ior"`),
    step('TXT with 1 dq-left', String.raw`foodqs TXT "\"left"`),
    step('TXT with 1 dq-right', String.raw`foodqs TXT "right\""`),
    step('TXT with semicolon', 'foosc TXT "semi;colon"'),
    step('TXT with semicolon ws', 'foosc TXT "wssemi ; colon"'),
    step('TXT interior ws', 'foosp TXT "with spaces"'),
    step('TXT trailing ws', 'foows1 TXT "with space at end "'),
    step('Create a TXT/SPF', 'foo TXT "v=spf1 ip4:192.0.2.99 -all"'),
  ]),
  group(28, 'TXT backslashes', [
    step('TXT with backslashs', String.raw`fooosbs1 TXT "1back\\slash"`, String.raw`fooosbs2 TXT "2back\\\\slash"`),
  ]),
  group(null, 'octets in TXT', [
    step('UTF-8', String.raw`utf8 TXT "sm\195\182rg\195\165s"`),
    step('control characters', String.raw`control TXT "tab\009 and \127"`),
    step('octets that are not UTF-8', String.raw`octets TXT "\000\255\128"`),
    step('several strings', 'several TXT "one" "two" "" "four"'),
    step('several records', 'several TXT "one"', 'several TXT "two"', 'several TXT "onetwo"'),
    step('a text that resembles escapes', String.raw`looks TXT "\\052 \\\" %20 $ORIGIN @ ( )"`),
  ]),
]
