/** A web page that shows what an apply would change. It has no way to apply anything. */
import { createServer, type Server } from 'node:http'
import { type PlanOptions, type PlanResult, plan } from 'zonewright'

const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)

function page({ result, diagnostics, plan: { zones, summary } }: PlanResult): string {
  const changes = zones.flatMap((zone) => zone.changes.map(({ action, name, type }) => `${zone.target}: ${action} ${name} ${type ?? 'zone'}`))
  const items = [...diagnostics.map(({ severity, message }) => `${severity}: ${message}`), ...changes]
  const count = summary.create + summary.update + summary.delete
  return `<!doctype html><title>${result}</title><h1>${count} changes</h1><ul>${items.map((one) => `<li>${escaped(one)}</li>`).join('')}</ul>`
}

/** `/` is the page, `/plan.json` the document of `schemas/plan.schema.json`. A visitor who leaves stops the run. */
export const planServer = (options: PlanOptions): Server =>
  createServer(async (request, response) => {
    const controller = new AbortController()
    response.on('close', () => controller.abort())
    const planned = await plan({ ...options, signal: controller.signal })
    const isJson = request.url === '/plan.json'
    response.writeHead(planned.result === 'failed' ? 502 : 200, { 'content-type': isJson ? 'application/json' : 'text/html; charset=utf-8' })
    response.end(isJson ? JSON.stringify(planned.plan) : page(planned))
  })
