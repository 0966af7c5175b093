/** The YAML forms of record values. */
import { type FieldKind, mayBeEmpty, RDATA_TYPES, type RdataType, takesRest } from '../../dns/rdata/rdata-types.ts'

/** A key of a value that is written as a mapping. */
export interface FormField {
  readonly key: string
  /** Another name that octoDNS accepts for the key. */
  readonly alias: string | null
  /** The value of an absent key; null if the key is required. */
  readonly defaultValue: string | null
  readonly kind: FieldKind
}

/**
 * How a value of a type is written in YAML: `scalar` as one text; `mapping` with a key per field of the rdata; `location` and
 * `service` with octoDNS's keys; `text` as the text of a TXT record; `presentation` as in a zone file (for types that octoDNS does not
 * have and whose fields depend on each other); `generic` as `\# LENGTH HEX`.
 */
export type ValueForm =
  | { readonly shape: 'scalar'; readonly kind: FieldKind }
  | { readonly shape: 'text' }
  | { readonly shape: 'presentation' }
  | { readonly shape: 'mapping'; readonly fields: readonly FormField[] }
  | { readonly shape: 'location' }
  | { readonly shape: 'service' }
  | { readonly shape: 'generic' }

/** octoDNS's other names for keys (its record/mx.py). */
const ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MX: { preference: 'priority', exchange: 'value' },
}

/** octoDNS's defaults for absent keys (its record/caa.py and tlsa.py). */
const ABSENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CAA: { flags: '0' },
  TLSA: { certificate_usage: '0', selector: '0', matching_type: '0' },
}

/** The keys of a LOC value in the order of its presentation form (RFC 1876 section 3), as octoDNS names them; all are required. */
export const LOCATION_KEYS = [
  'lat_degrees',
  'lat_minutes',
  'lat_seconds',
  'lat_direction',
  'long_degrees',
  'long_minutes',
  'long_seconds',
  'long_direction',
  'altitude',
  'size',
  'precision_horz',
  'precision_vert',
] as const

/** The keys of an SVCB or HTTPS value (RFC 9460), as octoDNS names them; `svcparams` is optional. */
export const SERVICE_KEYS = ['svcpriority', 'targetname', 'svcparams'] as const

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

const forms = new Map<string, ValueForm>([...RDATA_TYPES.values()].map((type) => [type.type, formOfType(type)]))

const GENERIC: ValueForm = { shape: 'generic' }

/** The form of a type; unknown types have the generic form of RFC 3597. */
export const valueForm = (type: string): ValueForm => forms.get(type) ?? GENERIC

/** The keys that a value of the form can have, without aliases. */
export function formKeys(form: ValueForm): readonly string[] {
  if (form.shape === 'mapping') return form.fields.map((field) => field.key)
  if (form.shape === 'location') return LOCATION_KEYS
  return form.shape === 'service' ? SERVICE_KEYS : []
}

function formOfType(type: RdataType): ValueForm {
  if (type.type === 'LOC') return { shape: 'location' }
  if (type.type === 'SVCB' || type.type === 'HTTPS') return { shape: 'service' }
  if (TEXT_TYPES.has(type.type)) return { shape: 'text' }
  const [first] = type.fields
  if (type.fields.length === 1 && first) {
    const inWords = first.kind === 'hex' || first.kind === 'base64'
    return takesRest(first.kind) && !inWords ? { shape: 'presentation' } : { shape: 'scalar', kind: first.kind }
  }
  const fields = type.fields.map(({ key, kind }) => ({
    key,
    kind,
    alias: ALIASES[type.type]?.[key] ?? null,
    defaultValue: ABSENT[type.type]?.[key] ?? (mayBeEmpty(kind) ? '' : null),
  }))
  return { shape: 'mapping', fields }
}

/** The keys of a record in canonical order; octoDNS's keys that no target supports come last. */
export const RECORD_KEYS = [
  'type',
  'ttl',
  'value',
  'values',
  'from',
  'auto_ptr',
  'owner',
  'expires',
  'override',
  'merge',
  'ignore',
  'cloudflare',
  'octodns',
  'geo',
  'dynamic',
  'healthcheck',
] as const
