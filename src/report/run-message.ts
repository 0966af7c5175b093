/** Describes a run in a chat message: a payload with `text`, for the incoming webhooks of Slack, Mattermost and others. */
import { oneLine } from '../base/diagnostic.ts'
import { agreeing, counted } from '../base/english.ts'
import type { RunDocument, RunResult, ZoneFigures } from './run-document.ts'

/** Maximum zones in a message. */
const MAX_ZONES = 10
/** Maximum errors in a message. */
const MAX_ERRORS = 3
/** Maximum characters of an error. */
const MAX_MESSAGE = 300

const SIGNS: Readonly<Record<RunResult, string>> = {
  done: ':white_check_mark:',
  pending: ':large_yellow_circle:',
  refused: ':no_entry:',
  partial: ':warning:',
  failed: ':x:',
  interrupted: ':warning:',
}

const WORDS: Readonly<Record<RunResult, string>> = {
  done: 'done',
  pending: 'differences',
  refused: 'refused',
  partial: 'applied in part',
  failed: 'failed',
  interrupted: 'interrupted',
}

export function chatMessage(run: RunDocument): { readonly text: string } {
  const { command, result, summary, zones, errors, job, omittedZones } = run
  const title = `${SIGNS[result]} *zonewright ${command}*: ${WORDS[result]}, ${summaryText(run)}`
  const listed = zones.slice(0, MAX_ZONES).map((zone) => `• ${escapeText(zone.zone)} at ${escapeText(zone.target)}: ${zoneText(zone)}`)
  const rest = zones.length + omittedZones - listed.length
  const shown = errors.slice(0, MAX_ERRORS).map(({ code, message }) => `• error ${code}: ${escapeText(message.slice(0, MAX_MESSAGE))}`)
  const more = summary.errors - shown.length
  const lines = [
    title,
    ...listed,
    ...(rest > 0 ? [`• and ${counted(rest, 'zone')} more`] : []),
    ...shown,
    ...(more > 0 ? [`• and ${counted(more, 'error')} more`] : []),
    ...(job === null ? [] : [`<${escapeMarkup(job).replace(/\|/g, '%7C')}|The job>`]),
  ]
  return { text: lines.join('\n') }
}

/** Escapes a name or message, so that the chat room shows it without formatting, links and mentions. */
const escapeText = (text: string): string => escapeMarkup(oneLine(text)).replace(/[*_~`@]/g, (sign) => `${sign}\u2060`)

const escapeMarkup = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

function summaryText({ summary, command }: RunDocument): string {
  const { zones, differences, create, update, delete: deletes, applied, refusals, errors } = summary
  if (differences !== null)
    return differences === 0
      ? `${counted(zones, 'zone')} ${agreeing(zones, 'matches', 'match')}`
      : `${counted(differences, 'difference')} in ${counted(zones, 'zone')}`
  const planned = create + update + deletes
  const parts = [
    planned === 0 ? `no changes in ${counted(zones, 'zone')}` : `${create} to create, ${update} to update, ${deletes} to delete`,
    ...(command === 'apply' && planned > 0 ? [`${applied} of ${planned} applied`] : []),
    ...(refusals > 0 ? [counted(refusals, 'refusal')] : []),
    ...(errors > 0 ? [counted(errors, 'error')] : []),
  ]
  return parts.join(', ')
}

function zoneText(zone: ZoneFigures): string {
  const parts = [
    ...(zone.create + zone.update + zone.delete > 0 ? [`+${zone.create} ~${zone.update} −${zone.delete}`] : []),
    ...(zone.failed > 0 ? [`${zone.failed} failed`] : []),
    ...(zone.unknown > 0 ? [`${zone.unknown} unknown`] : []),
    ...(zone.refusals.length > 0 ? [`refused: ${zone.refusals.join(', ')}`] : []),
    ...((zone.differences ?? 0) > 0 ? [counted(zone.differences ?? 0, 'difference')] : []),
    ...(zone.errors > 0 ? [counted(zone.errors, 'error')] : []),
    ...(zone.owner === null ? [] : [`owner ${escapeText(zone.owner)}`]),
  ]
  return parts.join(', ')
}
