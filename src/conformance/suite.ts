/** All groups of the conformance suite. */
import { BASIC_GROUPS } from './groups/basic.ts'
import { NAME_GROUPS } from './groups/names.ts'
import { SIZE_GROUPS } from './groups/sizes.ts'
import { TEXT_GROUPS } from './groups/texts.ts'
import { TYPE_GROUPS } from './groups/types.ts'
import { UNMANAGED_GROUPS } from './groups/unmanaged.ts'
import type { ConformanceGroup } from './step.ts'

/** All groups: those of the list in its order, then the others. */
export const CONFORMANCE_SUITE: readonly ConformanceGroup[] = [
  ...BASIC_GROUPS,
  ...TEXT_GROUPS,
  ...NAME_GROUPS,
  ...TYPE_GROUPS,
  ...UNMANAGED_GROUPS,
  ...SIZE_GROUPS,
].toSorted((a, b) => (a.number ?? Number.POSITIVE_INFINITY) - (b.number ?? Number.POSITIVE_INFINITY))
