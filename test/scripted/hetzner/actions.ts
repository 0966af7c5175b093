/** The actions of the scripted Hetzner: a change is accepted at once, and its action ends after some reads. */
import { secondsOf } from '../base.ts'

export interface HetznerAction {
  readonly id: number
  readonly command: string
  /** The zone. */
  readonly resource: number
  readonly started: string
  finished: string | null
  status: 'running' | 'success' | 'error'
  progress: number
  /** The progress that the next reads show. */
  readonly steps: number[]
  /** Reverts the change of an action that fails; null for one that succeeds. */
  readonly undo: (() => void) | null
}

const FAILURE = { code: 'action_failed', message: 'Action failed' }

export const actionBody = ({ id, status, command, progress, started, finished, resource }: HetznerAction): object => ({
  id,
  status,
  command,
  progress,
  started,
  finished,
  error: status === 'error' ? FAILURE : null,
  resources: [{ id: resource, type: 'zone' }],
})

export interface ActionOptions {
  /**
   * The progress that the reads of an action show before it ends; by default one read shows 50. Null for an action that has ended when its change is answered.
   * `count` is the number of earlier actions.
   */
  readonly stepsOf?: ((command: string, count: number) => readonly number[] | null) | undefined
  /** Whether an action fails: then its change is reverted at its end. */
  readonly fails?: ((command: string, count: number) => boolean) | undefined
}

/** The actions of one service. */
export function createActions({ stepsOf = () => [50], fails = () => false }: ActionOptions) {
  const actions = new Map<number, HetznerAction>()
  const end = (action: HetznerAction): void => {
    action.undo?.()
    action.status = action.undo === null ? 'success' : 'error'
    action.progress = 100
    action.finished = secondsOf()
  }
  return {
    start(command: string, resource: number, undo: () => void): HetznerAction {
      const count = actions.size
      const steps = stepsOf(command, count)
      const action: HetznerAction = {
        id: 604_989_101_000_000 + count,
        command,
        resource,
        started: secondsOf(),
        finished: null,
        status: 'running',
        progress: 0,
        steps: [...(steps ?? [])],
        undo: fails(command, count) ? undo : null,
      }
      actions.set(action.id, action)
      if (steps === null) end(action)
      return action
    },
    /** Reads an action, which goes on meanwhile. */
    read(id: number): HetznerAction | undefined {
      const action = actions.get(id)
      if (action?.status !== 'running') return action
      const step = action.steps.shift()
      if (step === undefined) end(action)
      else action.progress = step
      return action
    },
  }
}
