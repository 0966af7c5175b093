/**
 * Loaded before the program (`node --import`): counts its file operations below a folder, and kills it (SIGKILL) right before one of them.
 * KILL_BELOW is the folder and KILL_AT the number of the operation, from 1. If KILL_COUNT names a file, the total is written there instead.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { sep } from 'node:path'

const { KILL_BELOW: below = '', KILL_AT: at = '0', KILL_COUNT: report } = process.env
let steps = 0

const isBelow = (path) => typeof path === 'string' && (path === below || path.startsWith(below + sep))

const attempted = new Set()

/** How often a process tries to lock a folder that another part of it has locked depends on its speed, so the operations of all attempts are one. */
const isRepeatedAttempt = (name, paths) => {
  if (!paths.some((path) => typeof path === 'string' && path.includes('.lock'))) return false
  const isNew = !attempted.has(name)
  attempted.add(name)
  return !isNew
}

function step(name, ...paths) {
  if (!paths.some(isBelow) || isRepeatedAttempt(name, paths)) return
  steps += 1
  if (steps === Number(at)) process.kill(process.pid, 'SIGKILL')
}

for (const name of ['renameSync', 'linkSync', 'copyFileSync', 'mkdirSync', 'rmSync', 'rmdirSync', 'unlinkSync', 'writeFileSync']) {
  const original = fs[name]
  fs[name] = (...args) => {
    step(name, ...args.slice(0, 2))
    return original.apply(fs, args)
  }
}

for (const name of ['mkdir', 'rename', 'link', 'rm', 'writeFile', 'open']) {
  const original = fs.promises[name]
  fs.promises[name] = async (...args) => {
    step(name, ...args.slice(0, 2))
    const result = await original.apply(fs.promises, args)
    if (name === 'open' && isBelow(args[0])) watch(result, args[0])
    return result
  }
}

/** Writes half of a text before the kill. */
function watch(handle, path) {
  const { writeFile, sync, close } = handle
  handle.writeFile = async (data) => {
    const octets = Buffer.from(data)
    await handle.write(octets, 0, octets.length >> 1)
    step('write', path)
    await writeFile.call(handle, octets.subarray(octets.length >> 1))
  }
  handle.sync = () => {
    step('sync', path)
    return sync.call(handle)
  }
  handle.close = () => {
    step('close', path)
    return close.call(handle)
  }
}

syncBuiltinESMExports()
if (report !== undefined) process.on('exit', () => fs.writeFileSync(report, String(steps)))
