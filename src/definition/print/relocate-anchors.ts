/** Keeps anchors before their aliases when entries are sorted. */
import { type Document, isAlias, isMap, isSeq, type Node } from 'yaml'

/** A replaceable child node. */
interface Slot {
  readonly node: Node
  readonly set: (node: Node) => void
}

function* slotsOf(parent: Node): Generator<Slot> {
  if (isMap(parent)) {
    for (const pair of parent.items) {
      if (pair.value === null || pair.value === undefined) continue
      yield { node: pair.value as Node, set: (node) => Object.assign(pair, { value: node }) }
    }
  } else if (isSeq(parent)) {
    const items = parent.items as Node[]
    for (let i = 0; i < items.length; i += 1) yield { node: items[i] as Node, set: (node) => Object.assign(items, { [i]: node }) }
  }
}

/** Whether `relocateAnchors` can repair a document after sorting: each anchor is defined once, and no key is an alias or has an anchor. */
export function canRelocateAnchors(document: Document): boolean {
  const names = new Set<string>()
  const visit = (node: Node): boolean => {
    if (!isAlias(node) && node.anchor !== undefined) {
      if (names.has(node.anchor)) return false
      names.add(node.anchor)
    }
    if (isMap(node) && node.items.some(({ key }) => isAlias(key) || (key as { anchor?: string }).anchor !== undefined)) return false
    for (const slot of slotsOf(node)) if (!visit(slot.node)) return false
    return true
  }
  return document.contents === null || visit(document.contents as Node)
}

/** Swaps each anchored value with its first alias if sorting has put the alias first: YAML needs the anchor before its aliases. */
export function relocateAnchors(root: Node): void {
  const anchored = new Map<string, Slot>()
  const collect = (node: Node): void => {
    for (const slot of slotsOf(node)) {
      if (!isAlias(slot.node) && slot.node.anchor !== undefined) anchored.set(slot.node.anchor, slot)
      collect(slot.node)
    }
  }
  collect(root)
  if (anchored.size === 0) return
  const placed = new Set<Node>()
  const place = (node: Node): void => {
    for (const slot of slotsOf(node)) {
      const target = isAlias(slot.node) ? anchored.get(slot.node.source) : undefined
      if (isAlias(slot.node) && target !== undefined && !placed.has(target.node)) {
        target.set(slot.node)
        slot.set(target.node)
        placed.add(target.node)
        place(target.node)
      } else if (!isAlias(slot.node)) {
        placed.add(slot.node)
        place(slot.node)
      }
    }
  }
  place(root)
}
