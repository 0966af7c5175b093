import type { Filter } from './filter.ts'

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
