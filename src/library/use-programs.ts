/** Says how definitions that are programs are run. What does it is loaded only if a definition is one. */
import { usePrograms } from '../load/program-loader.ts'

usePrograms({
  start: async () => (await import('../programs/sandbox/run-program.ts')).SANDBOX.start(),
  loader: async () => {
    const [{ programLoader }, { programZones }] = await Promise.all([
      import('../programs/load-program.ts'),
      import('../convert/dnscontrol/program-zones.ts'),
    ])
    return programLoader(programZones)
  },
})
