/**
 * `X-Filter`: conditions on the filterable fields of a list, as JSON. Fields of one object must all hold; `+and` and `+or` take
 * lists of objects; a field's value is what it equals, or an object of operators. Nests to a bounded depth.
 */

/** A field that filters can name. */
export type FilterField =
  | {
      /**
       * `name`: text that is stored in lower case. `text`: compared without regard to ASCII case. `time`: as the interface writes it,
       * `2026-03-01T10:00:00`.
       */
      readonly kind: 'name' | 'text' | 'time'
      /** The field may be null, and null may be asked for; it comes before all else. */
      readonly nullable?: true
      /** Lists cannot be ordered by the field. */
      readonly unordered?: true
    }
  /** `set`: holds several texts, and a condition holds if one of them fits. `boolean`: stored as 0 or 1. */
  | { readonly kind: 'set' | 'number' | 'boolean'; readonly nullable?: never; readonly unordered?: never }

export type FilterFields = Readonly<Record<string, FilterField>>

export type Comparison = '=' | '!=' | '>' | '>=' | '<' | '<=' | 'contains'

export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly field: string; readonly comparison: Comparison; readonly value: string | number | null }

export interface Filter {
  readonly condition: Condition
  readonly order: { readonly field: string; readonly descending: boolean } | null
}

/** Letters A to Z in lower case, as every database folds them alike. */
export const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())

/** Which part of a list is wanted. */
export interface ListQuery {
  /** Null for all. */
  readonly filter: Filter | null
  readonly offset: number
  readonly limit: number
}

export interface ListSlice<T> {
  readonly items: readonly T[]
  /** Items of the whole list. */
  readonly total: number
}
