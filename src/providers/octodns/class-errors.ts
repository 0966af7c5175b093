/** Failures of a provider class of octoDNS as `ProviderError`s and as problems of the config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { errorOfException, textOf, textsOf } from '../bridge-errors.ts'
import type { Message } from '../bridge-process.ts'
import { diagnosticOf, ProviderError } from '../provider.ts'

/** The error of a request that the class did not carry out. `logs` has what it logged as an error meanwhile. */
export function errorOfResponse(what: string, error: Message, logs: readonly string[]): ProviderError {
  const message = textOf(error['message'])
  switch (error['kind']) {
    case 'other-plan': {
      const differences = textsOf(error['differences'])
      const more = Number(error['count']) - differences.length
      const list = `${differences.join('; ')}${more > 0 ? `; and ${counted(more, 'more difference')}` : ''}`
      return new ProviderError('provider-rejected', `${what}: octoDNS plans something else than was asked: ${list}`, {
        hint: 'nothing was changed; the class cannot store these records as they are defined',
      })
    }
    case 'threshold':
      return new ProviderError('provider-rejected', `${what}: octoDNS refuses the plan: ${message}`, {
        hint: 'nothing was changed; raise the threshold in "options", or remove it: the safety limits of Zonewright apply as well',
      })
    case 'not-applied':
      return new ProviderError('provider-rejected', `${what}: octoDNS applied nothing`)
    default:
      return errorOfException(what, error, logs)
  }
}

/** The problem of settings with which the class cannot be created. `error` is the response to the first request. */
export function problemOfStart(config: ProviderConfig, className: string, error: Message): Diagnostic {
  const setting = (path: readonly string[], message: string, hint?: string): Diagnostic => ({
    severity: 'error',
    code: 'provider-class',
    message: `providers.${[config.name, ...path].join('.')}: ${message}`,
    at: config.placeOf(...path),
    hint,
  })
  const module = textOf(error['module'], 100)
  const moduleOfClass = className.split('.')[0] as string
  switch (error['kind']) {
    case 'no-octodns':
      return setting(
        ['python'],
        `octoDNS is not installed for this interpreter (${textOf(error['message'])})`,
        installHint(config, moduleOfClass),
      )
    case 'no-module':
      return setting(['class'], `there is no Python module ${module}`, installHint(config, moduleOfClass))
    case 'no-dependency':
      return setting(
        ['class'],
        `the Python module ${moduleOfClass} needs ${module}, which is not installed`,
        `install it: ${pip(config)} ${module}`,
      )
    case 'no-class':
    case 'no-provider': {
      const classes = textsOf(error['classes'])
      const message = error['kind'] === 'no-class' ? 'the module has no such class' : 'is not a class of an octoDNS provider'
      const name = className.slice(className.lastIndexOf('.') + 1)
      const list = classes.length === 0 ? undefined : `its providers are ${classes.join(', ')}`
      return setting(['class'], `${className}: ${message}`, didYouMean(name, classes) ?? list)
    }
    case 'options':
      return optionProblem(config, className, error, setting)
    default:
      return setting(['class'], `${className} cannot be used: ${textOf(error['type'], 200)}: ${textOf(error['message'])}`)
  }
}

function optionProblem(
  config: ProviderConfig,
  className: string,
  error: Message,
  setting: (path: readonly string[], message: string, hint?: string) => Diagnostic,
): Diagnostic {
  // A class may contact its service as soon as it is created.
  const failure = errorOfException(`${config.name}: starting ${className}`, error, [])
  if (failure.code !== 'provider-failed') return { ...diagnosticOf(failure), at: config.placeOf('class') }
  const message = textOf(error['message'])
  const accepted = textsOf(error['accepted'])
  const unknown = /unexpected keyword argument '([^']+)'/.exec(message)?.[1]
  const list = accepted.length === 0 ? undefined : `the options of the class are ${accepted.join(', ')}`
  if (unknown !== undefined) return setting(['options', unknown], 'the class has no such option', didYouMean(unknown, accepted) ?? list)
  const missing = /missing [0-9]+ required .*arguments?: (.+)$/.exec(message)?.[1]
  if (missing !== undefined) return setting(['options'], `the class needs ${missing.replaceAll("'", '')}`, list)
  return setting(['options'], `the class refuses them: ${textOf(error['type'], 200)}: ${message}`, list)
}

const pip = ({ settings }: ProviderConfig): string => `${String(settings['python'] ?? 'python3')} -m pip install`

/** octoDNS's packages are named after their modules. */
const installHint = (config: ProviderConfig, module: string): string =>
  `install it: ${pip(config)} ${module === 'octodns' ? 'octodns' : module.replaceAll('_', '-')}`
