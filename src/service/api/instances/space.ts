import type { RequestFault } from '../request-error.ts'

/** Disks need more than there is, in MB. */
export const spaceFault = (field: string | null, needed: number, free: number): RequestFault => ({
  field,
  reason: `There is insufficient space: the disks need ${needed} MB, and ${Math.max(0, free)} MB are free.`,
})
