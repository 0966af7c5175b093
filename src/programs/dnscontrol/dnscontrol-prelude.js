/**
 * DNSControl's language, as the prelude of the sandbox: written from its public reference (docs.dnscontrol.org) and from programs with their results. It defines
 * its functions as globals, which the program may replace. The result, `conf`, is DNSControl's configuration before it is checked: `check-program.ts` does what
 * DNSControl does after the run. `host` is a `SandboxHost`, `entry` the file of the program.
 */
;(host, entry) => {
  const conf = { registrars: [], dns_providers: [], domains: [] }
  let defaults = []
  let isRfc4183 = false
  /** The file that `require` runs now. */
  let current = entry

  const isObject = (value) => typeof value === 'object' && value !== null
  const textOf = (value) => (typeof value === 'string' ? value : String(value))

  /** An error that has the text alone as text, as DNSControl's have. */
  const problem = (message) => Object.assign(new Error(message), { toString: () => message })

  const SECONDS = { s: 1, m: 60, h: 3600, d: 86400, w: 604800, n: 2592000, y: 31536000 }

  function duration(value) {
    if (typeof value !== 'string') return value
    const [, count, unit = 's'] = /^(\d+)([smhdwny])?$/.exec(value) ?? []
    if (count === undefined) throw problem(`${value} is not a valid duration string`)
    return Number(count) * SECONDS[unit]
  }

  // Addresses

  const dotted = (number) => [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.')
  const address = (value) => (typeof value === 'number' ? dotted(value) : value)
  const IP = (value) => value.split('.').reduce((sum, octet) => sum * 256 + parseInt(octet, 10), value.split('.').length === 4 ? 0 : NaN)

  /** The octets of an IPv4 address, or the 32 hexadecimal digits of an IPv6 address; null if it is neither. */
  function digits(value) {
    const octets = value.split('.')
    if (/^[\d.]+$/.test(value))
      return octets.length === 4 && octets.every((one) => /^(?:0|[1-9]\d{0,2})$/.test(one) && one < 256) ? octets : null
    const [, start = '', last] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(value) ?? []
    const v4 = last === undefined ? null : digits(last)
    const hex = v4 === null ? value : start + [v4.slice(0, 2), v4.slice(2)].map(([a, b]) => (a * 256 + Number(b)).toString(16)).join(':')
    const [front, back, ...more] = hex.split('::').map((part) => (part === '' ? [] : part.split(':')))
    if (!value.includes(':') || more.length > 0) return null
    const missing = 8 - front.length - (back ?? []).length
    if (back === undefined ? missing !== 0 : missing < 1) return null
    const groups = [...front, ...Array(Math.max(missing, 0)).fill('0'), ...(back ?? [])]
    return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
      ? [
          ...groups
            .map((group) => group.padStart(4, '0'))
            .join('')
            .toLowerCase(),
        ]
      : null
  }

  /** The reverse zone of a network (RFC 2317, RFC 4183 for masks between octets) or the reverse name of an address. */
  function REV(network) {
    const [base, mask] = textOf(network).split('/')
    const parts = digits(base)
    if (parts === null) throw problem(`not an IP address: ${network}`)
    const isV4 = parts.length === 4
    const width = isV4 ? 32 : 128
    const bits = mask === undefined ? width : Number(mask)
    if (!/^\d{1,3}$/.test(mask ?? '0') || bits > width) throw problem(`not a CIDR block: ${network}`)
    if (bits < 8) throw problem(`mask fewer than 8 bits is unreasonable: ${network}`)
    const size = width / parts.length
    const whole = Math.floor(bits / size)
    const extra = bits % size
    if (!isV4 && extra > 0) throw problem(`the mask of an IPv6 network is a multiple of 4 here: ${network}`)
    const values = parts.map((part) => parseInt(part, isV4 ? 10 : 16))
    const first = extra === 0 ? 0 : values[whole] - (values[whole] % 2 ** (size - extra))
    const hasHostBits = (extra > 0 && values[whole] !== first) || values.slice(extra > 0 ? whole + 1 : whole).some((value) => value > 0)
    if (hasHostBits && !isRfc4183) throw problem(`CIDR ${network} has bits beyond the mask`)
    const label = extra === 0 ? [] : [`${first}${isRfc4183 || whole < 3 ? '-' : '/'}${bits}`]
    return [...label, ...parts.slice(0, whole).reverse(), isV4 ? 'in-addr.arpa' : 'ip6.arpa'].join('.')
  }

  function REVCOMPAT(mode) {
    const [, rfc] = /^(?:rfc)?(2|2317|4|4183)$/i.exec(textOf(mode)) ?? []
    if (rfc === undefined) throw problem(`invalid value "${mode}", must be rfc2317 or rfc4183`)
    isRfc4183 = rfc.startsWith('4')
  }

  function HASH(...args) {
    if (args.length !== 2) throw problem('HASH takes exactly two arguments')
    const [algorithm, value] = args.map(textOf)
    if (!/^SHA(?:1|256|512)$/i.test(algorithm)) throw problem(`invalid algorithm ${algorithm} given`)
    return host.hash(algorithm.toLowerCase(), value)
  }

  // Files

  /** DNSControl takes paths that begin with a dot from the folder of the file, others from that of the program. */
  const origin = (path) => (path.startsWith('.') ? current : entry)

  function runFile({ file, text }) {
    const former = current
    current = file
    try {
      host.evaluate(file, text)
    } finally {
      current = former
    }
  }

  function require(...args) {
    if (args.length !== 1) throw problem('require takes exactly one argument')
    const path = textOf(args[0])
    const found = host.read(path, origin(path))
    // DNSControl reads it as an expression: comments and trailing commas are allowed.
    if (/\.json5?$/i.test(path)) return host.evaluate(found.file, `(${found.text}\n)`)
    runFile(found)
    return true
  }

  /** The folder entries in byte order, with those of inner folders at their place. */
  function byFolder(a, b) {
    const [left, right] = [a.split('/'), b.split('/')]
    const at = left.findIndex((part, i) => part !== right[i])
    return at === -1 ? 0 : right[at] === undefined || left[at] > right[at] ? 1 : -1
  }

  const folderOf = (file) => file.replace(/[^/]*$/, '')

  /** The paths are relative to the folder of the program. */
  function glob(path, recursive = true, ending = 'js') {
    if (typeof path !== 'string') throw problem('glob: the first argument is a path')
    if (typeof recursive !== 'boolean') throw problem('glob: the second argument, if recursive, is a boolean')
    const extension = ending.replace(/^\./, '')
    const folder = path.replace(/\/+$/, '').replace(/[\\*?[\]{}]/g, '\\$&')
    const found = host.list(`${folder}/${recursive ? '**/' : ''}*.${extension}`, origin(path))
    if (found.length === 0) throw problem(`glob: ${path} has no file that ends in .${extension}`)
    const above = folderOf(origin(path)).slice(folderOf(entry).length)
    return found.map((one) => above + one.replace(/^\.\//, '')).sort(byFolder)
  }

  function require_glob(path, recursive) {
    const found = glob(path, recursive)
    for (const one of found) runFile(host.read(one, entry))
    return found
  }

  // Domains

  const table = (rows) =>
    rows
      .map((row) => ['low', 'high', 'newBase', 'newIP'].map((key) => [row[key] ?? ''].flat().map(address).join(',')).join(' ~ '))
      .join(' ; ')

  /** Copies metadata. A table of addresses becomes text. The records of a promise would be missing without a word. */
  function addMetadata(meta, more) {
    if (more instanceof Promise) throw problem('a promise is neither a record nor a modifier')
    for (const key of Object.keys(more))
      meta[key] = (key === 'transform' || key === 'ip_conversions') && Array.isArray(more[key]) ? table(more[key]) : more[key]
    return meta
  }

  function provider(list, name, type, meta) {
    if (typeof name !== 'string') throw problem('the name of a provider or registrar is a text')
    const metadata = isObject(type) ? type : meta
    const entry = { name, type: typeof type === 'string' ? type : '-' }
    if (metadata !== undefined) entry.meta = addMetadata({}, metadata)
    list.push(entry)
    return name
  }

  function modify(domain, modifier) {
    if (Array.isArray(modifier)) modifier.forEach((one) => void modify(domain, one))
    else if (typeof modifier === 'function') modifier(domain)
    else if (isObject(modifier)) addMetadata(domain.meta, modifier)
    else throw problem(`domain modifier type unsupported: ${typeof modifier} Domain: ${domain.name}`)
  }

  /** The domains by name and tag. */
  const byName = new Map()
  const splitTag = (name) => [name.split('!')[0], name.split('!').slice(1).join('!')]

  function D(name, ...modifiers) {
    if (typeof name !== 'string') throw problem('the name of a domain is a text')
    const [plain, tag] = splitTag(name)
    if (plain.endsWith('.')) throw problem(`${name} must not end with a dot`)
    const key = `${plain}!${tag}`
    if (byName.has(key)) throw problem(`${name} is declared more than once`)
    const domain = {
      name,
      registrar: '',
      meta: {},
      records: [],
      rawrecords: [],
      recordsabsent: [],
      dnsProviders: {},
      defaultTTL: 0,
      nameservers: [],
      unmanaged: [],
    }
    Object.defineProperty(domain, 'filepos', { value: host.place(), enumerable: true })
    modify(domain, defaults)
    if (typeof modifiers[0] === 'string') domain.registrar = modifiers.shift()
    modify(domain, modifiers)
    conf.domains.push(domain)
    byName.set(key, domain)
  }

  /** The declared domain with the tag of the name that is it or the nearest above it. */
  function declared(name) {
    const [plain, tag] = splitTag(textOf(name))
    for (let above = plain; ; above = above.slice(above.indexOf('.') + 1)) {
      const domain = byName.get(`${above}!${tag}`)
      if (domain !== undefined) return { domain, below: plain.slice(0, -above.length).replace(/\.$/, '') }
      if (!above.includes('.')) throw problem(`${name} was not declared yet and therefore cannot be updated. Use D() before.`)
    }
  }

  function D_EXTEND(name, ...modifiers) {
    const { domain, below } = declared(name)
    if (below !== '') domain.subdomain = below
    try {
      modify(domain, modifiers)
    } finally {
      delete domain.subdomain
    }
  }

  function INCLUDE(name) {
    return (domain) => {
      const { domain: source } = declared(name)
      for (const list of ['records', 'rawrecords'])
        domain[list].push(...source[list].map((record) => ({ ...record, meta: { ...record.meta } })))
    }
  }

  const flag = (key, value) => (domain) => {
    domain[key] = value
  }
  const NO_PURGE = flag('keepunknown', true)
  const DnsProvider =
    (name, count = -1) =>
    (domain) => {
      domain.dnsProviders[name] = count
    }

  function NAMESERVER(...args) {
    if (args.length !== 1) throw problem('NAMESERVER only accepts one argument for name.')
    return (domain) => domain.nameservers.push({ name: args[0] })
  }

  function IGNORE(label = '*', types = '*', target = '*') {
    return (domain) => domain.unmanaged.push({ label_pattern: label, rType_pattern: types, target_pattern: target })
  }

  // Records

  /** DNSControl adds the subdomain of a D_EXTEND to all but these. */
  const WITHOUT_SUBDOMAIN = /^(?:ADGUARDHOME_|MIKROTIK_|CF_WORKER_ROUTE)/

  /** A label in a subdomain; absolute names and addresses as they are. */
  function below(subdomain, type, label) {
    if (label.endsWith('.') || (type === 'PTR' && (digits(label) !== null || /\.(?:in-addr|ip6)\.arpa$/i.test(label)))) return label
    return label === '@' ? subdomain : `${label}.${subdomain}`
  }

  /** The modifier that adds a record. Its place is the call of `from`. */
  function makeRecord(type, fields, modifiers, list = 'records', from = makeRecord) {
    const filepos = host.place(from)
    return (domain) => {
      const record = { type, ...fields, ttl: domain.defaultTTL || undefined, meta: {}, filepos }
      if (fields.r53_alias) record.r53_alias = { ...fields.r53_alias }
      for (const modifier of modifiers) {
        if (typeof modifier === 'function') modifier(record)
        else if (isObject(modifier)) addMetadata(record.meta, modifier)
        else throw problem(`${type}: unknown modifier type ${typeof modifier}`)
      }
      if (domain.subdomain !== undefined && list === 'records' && !WITHOUT_SUBDOMAIN.test(type)) {
        record.name = below(domain.subdomain, type, record.name)
        record.subdomain = domain.subdomain
      }
      const isAbsent = record.ensure_absent === true
      delete record.ensure_absent
      domain[isAbsent ? 'recordsabsent' : list].push(record)
    }
  }

  const CHECKS = {
    '#': (value) => typeof value === 'number',
    '%': (value) => typeof value === 'number' || typeof value === 'string',
    '*': (value) => typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string')),
    '=': (value) => typeof value === 'string',
  }

  /**
   * A function for records. `parameters` are the fields after the name: `#` numbers, `%` texts or numbers, `*` texts or lists of texts, others texts.
   * `change` adapts the fields and may throw.
   */
  function recordType(type, parameters, change = (fields) => fields) {
    const keys = ['name', ...parameters.split(' ').filter(Boolean)].map((key) => [key.replace(/^[#%*]/, ''), CHECKS[key[0]] ?? CHECKS['=']])
    // Without a name, as `place` has it: the call is not searched by that name.
    const [build] = [
      (...args) => {
        if (args.length < keys.length) {
          const names = keys.map(([key]) => key).join(', ')
          throw problem(`${type} record requires ${keys.length} arguments (${names}). Only ${args.length} were supplied`)
        }
        const fields = {}
        for (let i = 0; i < keys.length; i += 1) {
          const value = args[i]
          if (!keys[i][1](value)) throw problem(`${type} record ${keys[i][0]} argument validation failed`)
          fields[keys[i][0]] = Array.isArray(value) ? value.join('') : value
        }
        return makeRecord(type, change(fields), args.slice(keys.length), 'records', build)
      },
    ]
    return build
  }

  const oneOf = (type, key, allowed) => (fields) => {
    if (!allowed.split(' ').includes(fields[key])) throw problem(`${type} record ${key} argument validation failed`)
    return fields
  }

  /** A type of one provider, whose name DNSControl repeats in the metadata. */
  function customType(type, parameters, change = (fields) => fields) {
    const build = recordType(type, parameters, change)
    return (...args) => build(...args, { orig_custom_type: type })
  }

  function loc(label, latitude, longitude, altitude, modifiers) {
    const parts = (value) => {
      const size = Math.round(Math.abs(value) * 3_600_000)
      return [Math.floor(size / 3_600_000), Math.floor(size / 60_000) % 60, (size % 60_000) / 1000]
    }
    const [north, east] = [latitude < 0 ? 'S' : 'N', longitude < 0 ? 'W' : 'E']
    return LOC(label, ...parts(latitude), north, ...parts(longitude), east, altitude, 0, 0, 0, ...modifiers)
  }

  const metres = (value, low, high) => Math.min(Math.max(value, low), high)

  /** Degrees, minutes and seconds (RFC 1876), as thousandths of a second around 2^31. */
  function angle(label, [degrees, minutes, seconds, direction], positive, negative, limit) {
    const letter = textOf(direction).toUpperCase()
    if (!Number.isInteger(degrees) || !Number.isInteger(minutes)) throw problem(`LOC ${label}: degrees and minutes are whole numbers`)
    if (degrees < 0 || degrees > limit || minutes < 0 || minutes > 59 || !(seconds >= 0 && seconds < 60 + 1e-9))
      throw problem(`LOC ${label}: an angle is out of range`)
    if (letter !== positive && letter !== negative) throw problem(`LOC ${label}: the direction is ${positive} or ${negative}`)
    const size = Math.round((degrees * 3600 + minutes * 60 + seconds) * 1000)
    return { value: 2 ** 31 + (letter === positive ? size : -size), text: `${degrees} ${minutes} ${seconds} ${letter}` }
  }

  function precision(value) {
    const centimetres = Math.round(value * 100)
    const power = Math.max(String(centimetres).length - 1, 0)
    return (Math.floor(centimetres / 10 ** power) << 4) | power
  }

  function LOC(...args) {
    if (args.length < 13) throw problem(`LOC record requires 13 arguments. Only ${args.length} were supplied`)
    const [name, ...values] = args
    const latitude = angle(name, values.slice(0, 4), 'N', 'S', 90)
    const longitude = angle(name, values.slice(4, 8), 'E', 'W', 180)
    if (!values.slice(8, 12).every((value) => typeof value === 'number')) throw problem(`LOC ${name}: altitude and precisions are numbers`)
    const altitude = metres(values[8], -100_000, 42_849_672.95)
    const sizes = values.slice(9, 12).map((value) => metres(value, 0, 90_000_000))
    const [locsize, lochorizpre, locvertpre] = sizes.map((value) => (value === 0 ? 0 : precision(value)))
    const target = [latitude.text, longitude.text, ...[altitude, ...sizes].map((value) => `${value}m`)].join(' ')
    const fields = { name, target, locsize, lochorizpre, locvertpre, loclatitude: latitude.value, loclongitude: longitude.value }
    return makeRecord('LOC', { ...fields, localtitude: Math.round((altitude + 100_000) * 100) }, values.slice(12))
  }

  const ttlOf = ({ ttl }) => (ttl === undefined ? [] : [TTL(ttl)])
  const DMS =
    /^\s*(\d+)\s*[°d\s]\s*(\d+)\s*['′’m\s]\s*(\d+(?:\.\d+)?)\s*["″”s]?\s*([NS])[\s,]*(\d+)\s*[°d\s]\s*(\d+)\s*['′’m\s]\s*(\d+(?:\.\d+)?)\s*["″”s]?\s*([EW])\s*$/i
  const DMM = /^\s*(\d+(?:\.\d+)?)\s*°?\s*([NS])[\s,]*(\d+(?:\.\d+)?)\s*°?\s*([EW])\s*$/i

  /** A LOC builder from text in one of two notations. */
  const locBuilder =
    (...notations) =>
    (value) => {
      const { label = '@', str, alt = 0 } = value
      for (const notation of notations) {
        const found = notation.exec(textOf(str))?.slice(1)
        if (!found) continue
        const sign = (letter) => (/[SW]/i.test(letter) ? -1 : 1)
        if (notation === DMM) return loc(label, found[0] * sign(found[1]), found[2] * sign(found[3]), alt, ttlOf(value))
        const parts = found.map((part, i) => (i % 4 === 3 ? part : Number(part)))
        return LOC(label, ...parts, alt, 0, 0, 0, ...ttlOf(value))
      }
      throw problem(`LOC builder: ${str} is no position`)
    }

  /** Records that DNSControl checks after the run and puts behind all others. */
  const rawType =
    (type, fixed) =>
    (...args) => {
      const count = { DS: 5, RP: 3, CF_SINGLE_REDIRECT: 4 }[type] ?? 2
      return makeRecord(fixed ?? type, { name: '@', args: [type, ...args.slice(0, count)] }, args.slice(count), 'rawrecords')
    }

  const TTL = (value) => {
    const ttl = duration(value)
    return (record) => {
      record.ttl = ttl
    }
  }

  function R53_WEIGHT(weight, identifier) {
    if (typeof weight !== 'number' || !(weight >= 0 && weight <= 255))
      throw problem('R53_WEIGHT: weight must be a number between 0 and 255')
    if (typeof identifier !== 'string' || identifier === '') throw problem('R53_WEIGHT: set_identifier must be a non-empty string')
    return { r53_weight: String(weight), r53_set_identifier: identifier }
  }

  function R53_HEALTH_CHECK_ID(id) {
    if (typeof id !== 'string' || id === '') throw problem('R53_HEALTH_CHECK_ID: health_check_id must be a non-empty string')
    return { r53_health_check_id: id }
  }

  // Builders

  function CAA_BUILDER(value) {
    const { label = '@' } = value
    const tags = ['issue', 'issuewild', 'issuevmc', 'issuemail']
    if (tags.every((tag) => value[tag] === undefined || value[tag].length === 0))
      throw problem('CAA_BUILDER requires at least one entry at issue, issuewild, issuevmc or issuemail')
    const one = (tag, target) => CAA(label, tag, target, ...(value[`${tag}_critical`] ? [CAA_CRITICAL] : []), ...ttlOf(value))
    return [
      ...(value.iodef ? [one('iodef', value.iodef)] : []),
      ...tags.flatMap((tag) => (value[tag] === 'none' ? [one(tag, ';')] : (value[tag] ?? []).map((target) => one(tag, target)))),
    ]
  }

  const CAA = recordType('CAA', 'caatag target')
  const A = recordType('A', 'target')
  const CAA_CRITICAL = (record) => {
    record.caaflag = 128
  }

  function DKIM_BUILDER(value) {
    const { selector, pubkey = '', label = '@', version = 'DKIM1', keytype } = value
    if (!selector) throw problem('DKIM_BUILDER selector cannot be empty')
    if (version !== 'DKIM1') throw problem('DKIM_BUILDER version must be DKIM1')
    const list = (key, allowed, what = '') => {
      const values = value[key] === undefined ? [] : [value[key]].flat()
      if (!values.every((one) => allowed.includes(one))) throw problem(`DKIM_BUILDER ${key}${what} must be one of: ${allowed.join(', ')}`)
      return values.join(':')
    }
    list('keytype', ['rsa', 'ed25519'])
    const hashes = list('hashtypes', keytype === 'ed25519' ? ['sha256'] : ['sha1', 'sha256'], ` for ${keytype ?? 'rsa'}`)
    // DKIM-Quoted-Printable (RFC 6376 section 2.11)
    const quote = (one) =>
      [...unescape(encodeURIComponent(one))]
        .map((c) => (/[!-:<>-~]/.test(c) ? c : `=${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`))
        .join('')
    const tags = [
      ['v', version],
      ['h', hashes],
      ['k', keytype],
      ['n', value.note && quote(value.note)],
      ['p', pubkey],
      ['s', list('servicetypes', ['*', 'email'])],
      ['t', list('flags', ['y', 's'])],
    ]
    const data = tags.filter(([tag, one]) => tag === 'p' || one).map(([tag, one]) => `${tag}=${one}`)
    return TXT(`${selector}._domainkey${label === '@' ? '' : `.${label}`}`, data.join('; '), ...ttlOf(value))
  }

  function DMARC_BUILDER(value) {
    const { label = '@', version = 'DMARC1', policy, failureOptions, ruf = [] } = value
    if (!policy) throw problem('DMARC_BUILDER requires a policy')
    const alignment = (key) => {
      const letter = { strict: 's', s: 's', relaxed: 'r', r: 'r', undefined: '' }[value[key]]
      if (letter === undefined) throw problem(`Invalid DMARC alignment policy (${key})`)
      return letter
    }
    const options = isObject(failureOptions)
      ? failureOptions.SPF
        ? failureOptions.DKIM
          ? '1'
          : 's'
        : failureOptions.DKIM
          ? 'd'
          : '0'
      : failureOptions
    const tags = [
      ['v', version],
      ['p', policy],
      ['sp', value.subdomainPolicy],
      ['np', value.nonexistentSubdomainPolicy],
      ['adkim', alignment('alignmentDKIM')],
      ['aspf', alignment('alignmentSPF')],
      ['pct', value.percent],
      ['rua', (value.rua ?? []).join(',')],
      ['ruf', ruf.join(',')],
      ['fo', ruf.length > 0 ? options : ''],
      ['rf', ruf.length > 0 ? value.failureFormat : ''],
      ['ri', duration(value.reportInterval)],
      ['psd', value.publicSuffixDomain],
      ['t', value.testMode],
    ]
    const data = tags.filter(([, one]) => one !== undefined && one !== '').map(([tag, one]) => `${tag}=${one}`)
    return TXT(label === '@' ? '_dmarc' : `_dmarc.${label}`, data.join('; '), ...ttlOf(value))
  }

  function SPF_BUILDER(value) {
    const { label = '@', parts, raw = '_rawspf', flatten = [], overflow, overhead1, txtMaxSize } = value
    if (!parts || parts.length < 2) throw problem('SPF_BUILDER requires at least 2 elements')
    const spf = parts.join(' ')
    const meta = {}
    if (overflow) meta.split = overflow
    if (overhead1) meta.overhead1 = overhead1
    if (txtMaxSize) meta.txtMaxSize = txtMaxSize
    if (flatten.length > 0) meta.flatten = flatten.join(',')
    const unaltered = flatten.length > 0 && raw !== '' ? [TXT(raw, spf, ...ttlOf(value))] : []
    return [...unaltered, TXT(label, spf, meta, ...ttlOf(value))]
  }

  function M365_BUILDER(name, value = {}, ...modifiers) {
    if (typeof name !== 'string') throw problem('M365_BUILDER requires the domain as its first argument')
    const { label = '@', mx = true, autodiscover = true, dkim = true, initialDomain } = value
    // DNSControl sets the label back if it adds autodiscover.
    const inner = label === '@' || autodiscover ? '' : `.${label}`
    if (!value.domainGUID && (mx || dkim) && name.includes('-'))
      throw problem(`M365_BUILDER requires domainGUID for domains with dashes: ${name}`)
    const guid = value.domainGUID ?? name.replaceAll('.', '-')
    if (dkim && !initialDomain) throw problem('M365_BUILDER requires initialDomain for dkim')
    const cname = (left, target) => CNAME(`${left}${inner}`, `${target}.`, ...modifiers)
    const srv = (left, port, target) => SRV(`${left}${inner}`, 100, 1, port, `${target}.`, ...modifiers)
    return [
      mx ? MX(label, 0, `${guid}.mail.protection.outlook.com.`, ...modifiers) : [],
      autodiscover ? cname('autodiscover', 'autodiscover.outlook.com') : [],
      dkim ? ['selector1', 'selector2'].map((one) => cname(`${one}._domainkey`, `${one}-${guid}._domainkey.${initialDomain}`)) : [],
      value.skypeForBusiness
        ? [
            cname('lyncdiscover', 'webdir.online.lync.com'),
            cname('sip', 'sipdir.online.lync.com'),
            srv('_sip._tls', 443, 'sipdir.online.lync.com'),
            srv('_sipfederationtls._tcp', 5061, 'sipfed.online.lync.com'),
          ]
        : [],
      value.mdm
        ? [
            cname('enterpriseregistration', 'enterpriseregistration.windows.net'),
            cname('enterpriseenrollment', 'enterpriseenrollment.manage.microsoft.com'),
          ]
        : [],
    ]
  }

  function IMPORT_TRANSFORM(rows, domain, ttl, ...modifiers) {
    return makeRecord('IMPORT_TRANSFORM', { name: '@', target: domain }, [{ transform_table: table(rows) }, TTL(ttl), ...modifiers])
  }

  function CF_WORKER_ROUTE(pattern, script, ...modifiers) {
    if (typeof pattern !== 'string' || pattern.includes(',')) throw problem('CF_WORKER_ROUTE record pattern argument validation failed')
    if (typeof script !== 'string' || script.includes(',')) throw problem('CF_WORKER_ROUTE record script argument validation failed')
    return makeRecord('CF_WORKER_ROUTE', { name: '@', target: `${pattern},${script}` }, [
      ...modifiers,
      { orig_custom_type: 'CF_WORKER_ROUTE' },
    ])
  }

  const alias = (type, key, allowed, more) => {
    const check = oneOf(type, 'type', allowed)
    const change = ({ name, ...fields }) => ({ name, target: check(fields).target, [key]: { type: fields.type, ...more } })
    return customType(type, 'type target', change)
  }

  const [MX, SRV, TXT, CNAME] = [
    recordType('MX', '#mxpreference target'),
    recordType('SRV', '#srvpriority #srvweight #srvport target'),
    recordType('TXT', '*target'),
    recordType('CNAME', 'target'),
  ]
  const nxdomain = (name, ...modifiers) => customType('MIKROTIK_NXDOMAIN', 'target')(name, 'NXDOMAIN', ...modifiers)

  const each = (names, make) => Object.fromEntries(names.map((name) => [name, make(name)]))
  /** Types of single providers whose data is a target. */
  const FORWARDS =
    'ADGUARDHOME_A_PASSTHROUGH ADGUARDHOME_AAAA_PASSTHROUGH AKAMAICDN BUNNY_DNS_RDR CLOUDNS_WR FRAME MIKROTIK_FORWARDER MIKROTIK_FWD NS1_URLFWD PORKBUN_URLFWD URL URL301'.split(
      ' ',
    )

  const language = {
    conf,
    D,
    D_EXTEND,
    DEFAULTS: (...modifiers) => {
      defaults = modifiers
    },
    DOMAIN_ELSEWHERE: (name, registrar, servers) =>
      D(
        name,
        registrar,
        NO_PURGE,
        servers.map((server) => NAMESERVER(server)),
      ),
    DOMAIN_ELSEWHERE_AUTO: (name, registrar, ...providers) =>
      D(
        name,
        registrar,
        NO_PURGE,
        providers.map((one) => DnsProvider(one)),
      ),
    NewRegistrar: (...args) => provider(conf.registrars, ...args),
    NewDnsProvider: (...args) => provider(conf.dns_providers, ...args),
    REGISTRAR: (name = 'none') => {
      if (!conf.registrars.some((one) => one.name === name)) provider(conf.registrars, name)
      return flag('registrar', name)
    },
    SERVICE: (name, count, meta) => {
      if (!conf.dns_providers.some((one) => one.name === name)) provider(conf.dns_providers, name, undefined, meta)
      return DnsProvider(name, count)
    },
    ALL_NS: -1,
    getConfiguredDomains: () => conf.domains.map(({ name }) => name.replace(/!$/, '')),
    PANIC: (message) => {
      throw problem(`PANIC: ${message}`)
    },
    FETCH: () => {
      throw problem('FETCH is refused: a program has no network. Save the data as a file and require it')
    },
    CLI_DEFAULTS: (values) => {
      for (const key of Object.keys(values)) if (!(key in host.variables)) globalThis[key] = values[key]
    },
    IP,
    num2dot: dotted,
    REV,
    REVCOMPAT,
    HASH,
    require,
    require_glob,
    glob,
    END: {},

    DnsProvider,
    DefaultTTL: (value) => flag('defaultTTL', duration(value)),
    INCLUDE,
    IGNORE,
    IGNORE_NAME: (name, types) => IGNORE(name, types),
    IGNORE_TARGET: (target, types) => IGNORE('*', types, target),
    IGNORE_EXTERNAL_DNS: (prefix) => (domain) => {
      domain.ignore_external_dns = true
      if (prefix) domain.external_dns_prefix = prefix
    },
    DISABLE_IGNORE_SAFETY_CHECK: flag('unmanaged_disable_safety_check', true),
    NO_PURGE,
    PURGE: flag('keepunknown', false),
    AUTODNSSEC_ON: flag('auto_dnssec', 'on'),
    AUTODNSSEC_OFF: flag('auto_dnssec', 'off'),
    AUTODNSSEC: () => undefined,
    NAMESERVER,
    NAMESERVER_TTL: (value) => {
      const ttl = duration(value)
      return (domain) => {
        domain.meta.ns_ttl = String(ttl)
      }
    },
    GIDINET_PREMIUM_NS: () => [1, 2, 3, 4, 5].map((n) => NAMESERVER(`dns${n}.gidinet.com.`)),

    TTL,
    ENSURE_ABSENT_REC: () => flag('ensure_absent', true),
    DISABLE_REPEATED_DOMAIN_CHECK: { skip_fqdn_check: 'true' },
    A: (...args) => A(...args.map((one, i) => (i === 1 ? address(one) : one))),
    CNAME,
    ...each(['AAAA', 'ALIAS', 'DHCID', 'DNAME', 'NS', 'PTR', 'OPENPGPKEY'], (type) => recordType(type, 'target')),
    ...each(FORWARDS, (type) => customType(type, 'target')),
    TXT,
    MX,
    SRV,
    CAA,
    CAA_CRITICAL,
    TLSA: recordType('TLSA', '#tlsausage #tlsaselector #tlsamatchingtype target'),
    SMIMEA: recordType('SMIMEA', '#smimeausage #smimeaselector #smimeamatchingtype target', (fields) => ({
      ...fields,
      name: `${fields.name}._smimecert`,
    })),
    SSHFP: recordType('SSHFP', '#sshfpalgorithm #sshfpfingerprint target'),
    NAPTR: recordType('NAPTR', '#naptrorder #naptrpreference naptrflags naptrservice naptrregexp target'),
    SOA: recordType('SOA', 'target soambox #soarefresh #soaretry #soaexpire #soaminttl'),
    HTTPS: recordType('HTTPS', '#svcpriority target svcparams'),
    SVCB: recordType('SVCB', '#svcpriority target svcparams'),
    DNSKEY: recordType('DNSKEY', '#dnskeyflags #dnskeyprotocol #dnskeyalgorithm dnskeypublickey', (fields) => ({ ...fields, target: '' })),
    LOC,
    DS: rawType('DS'),
    RP: rawType('RP'),
    AUTOSPLIT: {},

    CAA_BUILDER,
    DKIM_BUILDER,
    DMARC_BUILDER,
    SPF_BUILDER,
    M365_BUILDER,
    LOC_BUILDER_DD: (value) => loc(value.label ?? '@', value.x, value.y, value.alt ?? 0, ttlOf(value)),
    LOC_BUILDER_DMS_STR: locBuilder(DMS),
    LOC_BUILDER_DMM_STR: locBuilder(DMM),
    LOC_BUILDER_STR: locBuilder(DMM, DMS),
    IMPORT_TRANSFORM,
    IMPORT_TRANSFORM_STRIP: (rows, domain, ttl, suffix, ...modifiers) =>
      IMPORT_TRANSFORM(rows, domain, ttl, { transform_suffixstrip: suffix }, ...modifiers),

    R53_ALIAS: alias('R53_ALIAS', 'r53_alias', 'SOA A TXT CNAME MX NAPTR PTR SRV SPF AAAA CAA DS TLSA SSHFP SVCB HTTPS', {
      evaluate_target_health: 'false',
    }),
    R53_ZONE: (id) => (one) => {
      if (one.r53_alias) one.r53_alias.zone_id = id
      else one.meta.zone_id = id
    },
    R53_EVALUATE_TARGET_HEALTH: (isOn) => (record) => {
      if (record.r53_alias) record.r53_alias.evaluate_target_health = String(isOn)
    },
    R53_WEIGHT,
    R53_HEALTH_CHECK_ID,
    AZURE_ALIAS: alias('AZURE_ALIAS', 'azure_alias', 'A AAAA CNAME'),
    AKAMAITLC: customType('AKAMAITLC', 'answer_type target', oneOf('AKAMAITLC', 'answer_type', 'DUAL A AAAA')),
    MIKROTIK_NXDOMAIN: nxdomain,
    BUNNY_DNS_PZ: customType('BUNNY_DNS_PZ', '%target', (fields) => ({ ...fields, target: String(fields.target) })),
    LUA: customType('LUA', 'luartype *target', (fields) => ({ ...fields, luartype: fields.luartype.toUpperCase() })),
    CF_REDIRECT: rawType('CF_REDIRECT', 'CLOUDFLAREAPI_SINGLE_REDIRECT'),
    CF_TEMP_REDIRECT: rawType('CF_TEMP_REDIRECT', 'CLOUDFLAREAPI_SINGLE_REDIRECT'),
    CF_SINGLE_REDIRECT: rawType('CF_SINGLE_REDIRECT', 'CLOUDFLAREAPI_SINGLE_REDIRECT'),
    CF_WORKER_ROUTE,
    CF_PROXY_ON: { cloudflare_proxy: 'on' },
    CF_PROXY_OFF: { cloudflare_proxy: 'off' },
    CF_PROXY_FULL: { cloudflare_proxy: 'full' },
    CF_PROXY_DEFAULT_ON: { cloudflare_proxy_default: 'on' },
    CF_PROXY_DEFAULT_OFF: { cloudflare_proxy_default: 'off' },
    CF_CNAME_FLATTEN_ON: { cloudflare_cname_flatten: 'on' },
    CF_CNAME_FLATTEN_OFF: { cloudflare_cname_flatten: 'off' },
    CF_UNIVERSALSSL_ON: { cloudflare_universalssl: 'on' },
    CF_UNIVERSALSSL_OFF: { cloudflare_universalssl: 'off' },
    CF_MANAGE_COMMENTS: { cloudflare_manage_comments: 'true' },
    CF_MANAGE_TAGS: { cloudflare_manage_tags: 'true' },
    CF_COMMENT: (comment) => ({ cloudflare_comment: comment }),
    CF_TAGS: (...tags) => ({ cloudflare_tags: tags.join(',') }),
    HEDNS_DYNAMIC_ON: { hedns_dynamic: 'on' },
    HEDNS_DYNAMIC_OFF: { hedns_dynamic: 'off' },
    HEDNS_DDNS_KEY: (key) => ({ hedns_dynamic: 'on', hedns_ddns_key: key }),
  }
  // The names of functions are in stacks, where the places of their calls are searched with them.
  for (const [name, one] of Object.entries(language)) if (typeof one === 'function') Object.defineProperty(one, 'name', { value: name })
  Object.assign(globalThis, language, host.variables)

  return () => globalThis.conf
}
