/** Says how definitions that are programs are run. What does it is loaded only if a definition is one. */
import { usePrograms } from '../load/program-loader.ts'

usePrograms(async () => {
  const [{ programRunner }, { programZones }] = await Promise.all([
    import('../programs/load-program.ts'),
    import('../convert/dnscontrol/program-zones.ts'),
  ])
  return programRunner(programZones)
})
