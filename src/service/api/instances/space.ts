import type { RequestProblem } from '../request-error.ts'

/** Disks need more than there is, in MB. */
export const spaceProblem = (field: string | null, needed: number, free: number): RequestProblem => ({
  field,
  reason: `There is insufficient space: the disks need ${needed} MB, and ${Math.max(0, free)} MB are free.`,
})
