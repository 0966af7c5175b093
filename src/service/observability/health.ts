/** A part of the service: resolves where it works, rejects or hangs where it does not. */
export type HealthCheck = () => Promise<unknown>

export interface Health {
  readonly status: 'ok' | 'starting' | 'stopping' | 'failing'
  /** By part. */
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>
}

/** Milliseconds a part may take to show that it works. */
const PATIENCE = 2000

/** Asks every part at once. */
export async function checkHealth(checks: Readonly<Record<string, HealthCheck>>): Promise<Health> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([part, check]) => [part, (await works(check)) ? 'ok' : 'failing'] as const),
  )
  return { status: results.every(([, result]) => result === 'ok') ? 'ok' : 'failing', checks: Object.fromEntries(results) }
}

async function works(check: HealthCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE)
  })
  const done = check().then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}
