import { expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { parseUsage } from '../../../src/run/plan/read-usage.ts'

const ZONES = new Set(['example.com.', 'sub.example.com.', 'xn--bcher-kva.example.'] as DomainName[])
const HEAD = 'name,type,count,last_asked\n'
const TIME = '2026-11-23T20:10:00Z'

const rows = (text: string) => {
  const parsed = parseUsage(text, ZONES)
  if (!parsed.ok) throw new Error(parsed.message)
  return Object.fromEntries(
    [...parsed.value.queried].map(([zone, list]) => [
      zone,
      list.map(
        ({ name, type, count, lastAsked }) => `${name} ${type} ${count} ${lastAsked === null ? '-' : new Date(lastAsked).toISOString()}`,
      ),
    ]),
  )
}

test('keeps the rows of the wanted zones, in any order of columns, with columns of others', () => {
  const text = `\ufeff# made by hand\r\n"last_asked",comment,Type,COUNT,name\r\n${TIME},x,a,3,www.example.com\r\n\r\n2026-11-23t21:10:00+01:00,"a, ""b""",TYPE28,1,WWW.Sub.example.com.\r\n,,SOA,0,bücher.example\r\n${TIME},,A,9,www.example.net`
  expect(rows(text)).toEqual({
    'example.com.': ['www.example.com. A 3 2026-11-23T20:10:00.000Z', 'www.sub.example.com. AAAA 1 2026-11-23T20:10:00.000Z'],
    'sub.example.com.': ['www.sub.example.com. AAAA 1 2026-11-23T20:10:00.000Z'],
    'xn--bcher-kva.example.': ['xn--bcher-kva.example. SOA 0 -'],
  })
})

test('says from when to when it counts, or its times do', () => {
  const window = (text: string) => {
    const parsed = parseUsage(text, ZONES)
    return parsed.ok
      ? [parsed.value.from, parsed.value.to, parsed.value.isIncomplete].map((one) =>
          typeof one === 'number' ? new Date(one).toISOString().slice(5, 16) : one,
        )
      : parsed.message
  }
  const body = `${HEAD}a.example.com,A,1,2026-11-20T00:00:00Z\nb.example.net,A,1,2026-11-22T00:00:00Z\n`
  expect(window(body)).toEqual(['11-20T00:00', '11-22T00:00', false])
  expect(window(`# from 2026-11-16T00:00:00Z to 2026-11-23T00:00:00Z\n# incomplete\n${body}`)).toEqual(['11-16T00:00', '11-23T00:00', true])
  const partly = parseUsage(`# incomplete Example.com\n# incomplete example.net.\n${body}`, ZONES)
  expect(partly).toMatchObject({ ok: true, value: { isIncomplete: false, incomplete: new Set(['example.com.', 'example.net.']) } })
  expect(parseUsage(`# incomplete a..b\n${body}`, ZONES)).toMatchObject({ ok: true, value: { isIncomplete: true } })
  expect(window(`# from 2026-11-24T00:00:00Z to 2026-11-23T00:00:00Z\n${body}`)).toBe('its counts begin after they end')
  expect(window(`${HEAD}example.com,SOA,0,\n`)).toBe('it has no time, so it is unknown when its counts begin and end')
})

test.each([
  ['', 'it has no line "name,type,count,last_asked"'],
  ['\u0000\u0001', 'line 1, column 1: the first line must name the columns name, type, count, last_asked'],
  ['name,type,count\n', 'line 1, column 1: the first line must name the columns name, type, count, last_asked'],
  ['name,type,count,last_asked,NAME\n', 'line 1, column 1: the column name is there twice'],
  [`# from yesterday to today\n${HEAD}`, 'line 1, column 1: write it as "# from 2026-11-22T00:00:00Z to 2026-11-23T00:00:00Z"'],
  [`${HEAD}www.example.com,A,1\n`, 'line 2, column 1: the line has 3 of 4 fields'],
  [`${HEAD}www.example.com,A,1,${TIME},x\n`, 'line 2, column 1: the line has 5 of 4 fields'],
  [`${HEAD}www..example.com,A,1,${TIME}\n`, 'line 2, column 1: this is not a domain name'],
  [`${HEAD}\n"www.example.com",a b,1,${TIME}\n`, 'line 3, column 19: this is not a record type'],
  [`${HEAD}www.example.com,A,-1,${TIME}\n`, 'line 2, column 19: this is not a number of queries'],
  [`${HEAD}www.example.com,A,1,1700000000\n`, 'line 2, column 21: this is not a time such as 2026-11-23T20:10:00Z'],
  [`${HEAD}www.example.com,A,1,\n`, 'line 2, column 21: this is not a time such as 2026-11-23T20:10:00Z'],
  [`${HEAD}www.example.com,A,1,2026-13-40T00:00:00Z\n`, 'line 2, column 21: this is not a time such as 2026-11-23T20:10:00Z'],
  [`${HEAD}"www.example.com,A,1,${TIME}\n`, 'line 2, column 1: the quotation marks do not match'],
  [`${HEAD}a.example.com,"A"x,1,${TIME}\n`, 'line 2, column 15: the quotation marks do not match'],
  [`${HEAD}${'x'.repeat(5000)}\n`, 'line 2 has more than 4000 characters'],
  [`${'a,'.repeat(150)}\n`, 'line 1, column 1: there are more than 100 columns'],
])('%j is refused with the place', (text, message) => expect(parseUsage(text, ZONES)).toEqual({ ok: false, message }))
