/** The model of `X-Filter`: conditions on the filterable fields of a list, and its order. */

/** A filterable field. */
export type FilterField =
  | {
      /**
       * `name`: text stored in lower case. `text`: compared ignoring ASCII case. `time`: a timestamp such as `2026-03-01T10:00:00`.
       */
      readonly kind: 'name' | 'text' | 'time'
      /** The field may be null and can be compared with null, which sorts first. */
      readonly nullable?: true
      /** The field cannot be used for ordering. */
      readonly unordered?: true
    }
  /** `set`: several texts, of which one must match. `boolean`: stored as 0 or 1. */
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

/** Converts A to Z to lower case, which every database does in the same way. */
export const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())

/** A request for a part of a list. */
export interface ListQuery {
  /** Null for all items. */
  readonly filter: Filter | null
  readonly offset: number
  readonly limit: number
}

export interface ListSlice<T> {
  readonly items: readonly T[]
  /** The number of items in the whole list. */
  readonly total: number
}
