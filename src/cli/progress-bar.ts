import type { OnProgress, Progress } from '../apply/zone-job.ts'
import { type TextStream, widthOf } from './io.ts'

const LABELS: Record<Progress['phase'], string> = { reading: 'Reading zones', applying: 'Applying', asking: 'Asking name servers' }

/** Milliseconds a run may take before a bar appears, and between two drawings of it. */
const PATIENCE = 400
const INTERVAL = 100

export interface ProgressBar {
  readonly onProgress: OnProgress
  /** Takes the bar off the terminal. */
  clear(): void
}

/** A bar on the terminal for work that takes long; nothing where the stream is no terminal. */
export function progressBar(stream: TextStream, enabled: boolean, clock: () => number): ProgressBar {
  const start = clock()
  let drawnAt = 0
  let shown = false
  const clear = (): void => {
    if (shown) stream.write('\r\u001b[2K')
    shown = false
  }
  if (!enabled || stream.isTTY !== true) return { onProgress: () => undefined, clear }
  return {
    clear,
    onProgress({ phase, done, total }) {
      const now = clock()
      if (now - start < PATIENCE || (now - drawnAt < INTERVAL && done < total)) return
      drawnAt = now
      shown = true
      const count = ` ${done}/${total}`
      const room = Math.min(30, widthOf(stream) - LABELS[phase].length - count.length - 4)
      const filled = total === 0 ? 0 : Math.round((done / total) * Math.max(0, room))
      const bar = room > 4 ? ` [${'='.repeat(filled)}${' '.repeat(room - filled)}]` : ''
      stream.write(`\r\u001b[2K${LABELS[phase]}${bar}${count}`)
    },
  }
}
