/**
 * What a piece of work returns, and the milliseconds of processor time that took, those of the collector of garbage included. Unlike the time
 * on the clock it does not grow with what else the machine is doing.
 */
export function withCpuTime<T>(work: () => T): { readonly value: T; readonly milliseconds: number } {
  const before = process.cpuUsage()
  const value = work()
  return { value, milliseconds: since(before) }
}

/** The same of work that others are waited for in: what else this process does meanwhile counts too. */
export async function withCpuTimeOf<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly milliseconds: number }> {
  const before = process.cpuUsage()
  const value = await work()
  return { value, milliseconds: since(before) }
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
