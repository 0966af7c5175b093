import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import TAG from '../../../../schemas/service/tag.json' with { type: 'json' }
import TAG_CREATE from '../../../../schemas/service/tag-create.json' with { type: 'json' }
import TAGGED_OBJECT from '../../../../schemas/service/tagged-object.json' with { type: 'json' }
import { listDomains } from '../../store/domain-store.ts'
import { foldLabel, MAX_TAGS } from '../../store/tag-label.ts'
import { deleteTag, findOvertagged, listTags, tagDomains } from '../../store/tag-store.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { invalid, notFound } from '../request-error.ts'
import { defineRoute, type Route } from '../route.ts'

const list = defineRoute({
  method: 'GET',
  path: '/tags',
  summary: 'List tags',
  scope: 'account:read_only',
  needs: null,
  filter: {},
  response: pageSchema(TAG),
  handle: async ({ actor, paging }, { database }) => {
    const query = { filter: null, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listTags(connection, actor, query))
    return pageOf(paging, total, items)
  },
})

/** The kinds of objects that a new tag can be given to, by the fields that name them. */
type TaggedKind = 'domains' | 'instances' | 'linodes' | 'loadbalancers' | 'nodebalancers' | 'volumes'

type TagBody = { readonly label: string } & Readonly<Partial<Record<TaggedKind, readonly number[] | null>>>

const create = defineRoute<TagBody>({
  method: 'POST',
  path: '/tags',
  summary: 'Create a tag and give it to objects: to all of them, or nothing is done',
  scope: 'account:read_write',
  needs: { unrestricted: true },
  body: TAG_CREATE,
  response: TAG,
  handle: async ({ actor, body: { label, domains, ...others } }, { database, now }) => {
    const faults = Object.entries(others)
      .filter(([, ids]) => ids !== null && ids.length > 0)
      .map(([field]) => noSuchObject(field))
    if (faults.length > 0) throw invalid(...faults)
    const ids = domains ?? []
    const spelling = await database.write(async (connection) => {
      const tagged = await tagDomains(connection, actor.accountId, label, ids, now())
      if (tagged === null) throw invalid(noSuchObject('domains'))
      if ((await findOvertagged(connection, ids, MAX_TAGS)) !== null) {
        throw invalid({ field: 'domains', reason: `A domain can have at most ${MAX_TAGS} tags.` })
      }
      return tagged
    })
    return { label: spelling }
  },
})

const objects = defineRoute({
  method: 'GET',
  path: '/tags/{label}',
  texts: ['label'],
  summary: 'List the objects that carry a tag',
  scope: 'account:read_only',
  needs: null,
  filter: {},
  response: pageSchema(TAGGED_OBJECT),
  handle: async ({ actor, texts, paging }, { database }) => {
    const condition = { field: 'tags', comparison: '=', value: foldLabel(texts['label'] as string) } as const
    const query = { filter: { condition, order: null }, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listDomains(connection, actor, query))
    if (total === 0) throw notFound()
    return pageOf(
      paging,
      total,
      items.map(({ recordCount: _, ...data }) => ({ type: 'domain', data })),
    )
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/tags/{label}',
  texts: ['label'],
  summary: 'Delete a tag and take it from all objects',
  scope: 'account:read_write',
  needs: { unrestricted: true },
  response: EMPTY,
  handle: async ({ actor, texts }, { database, now }) => {
    const deleted = await database.write((connection) => deleteTag(connection, actor.accountId, texts['label'] as string, now()))
    if (!deleted) throw notFound()
    return {}
  },
})

/** The Tags part of the interface. */
export const TAGS_PART: readonly Route[] = [list, create, objects, remove]

const noSuchObject = (field: string) => ({ field, reason: `${field} is not valid` })
