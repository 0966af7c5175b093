/** The search of the site: sections with all telling words of a query, then those with some of them. */
window.makeSearch = (sections) => {
  const FIELDS = ['title', 'page', 'about', 'text']
  const spell = (text) =>
    text
      .replace(/\bback(?:ing|ed)? up\b/gi, 'backup')
      .replace(/\btak(?:e|es|en|ing) back\b/gi, 'undo')
      .replace(/\bnode\.js\b/gi, 'nodejs')
  /** "upgrade" and "upgrading" are one word for the search, as are "lets" and "let". */
  const stemOf = (term) => {
    const word = term.toLowerCase()
    return word.length > 3 ? word.replace(/(?<=..)(?:ings?|ed|es|s|e)$/, '') : word
  }
  const index = new MiniSearch({
    fields: FIELDS,
    storeFields: ['title', 'page', 'href', 'text'],
    extractField: (section, field) => (FIELDS.includes(field) ? spell(section[field]) : section[field]),
    processTerm: stemOf,
  })
  index.addAll(sections)

  const COMMON = new Set(
    (
      'a after an and any are as at be but by can could did do does for from get has have how i if in into is it its me must my of on or our should ' +
      'so that the their then there they this to too was we were what when where which who why will with would you your'
    ).split(' '),
  )
  /** Words that readers use for the same thing. */
  const SYNONYMS = [
    ['killed', 'interrupted', 'crashed', 'aborted'],
    ['nodejs', 'node', 'typescript', 'library'],
    ['multi', 'multiple', 'dual', 'several'],
    ['backup', 'restore'],
    ['approve', 'approval'],
    ['undo', 'rollback', 'revert'],
  ].map((words) => words.map(stemOf))
  const withSynonyms = (word) => {
    const known = SYNONYMS.find((words) => words.includes(stemOf(word)))
    return known ? { combineWith: 'OR', queries: [word, ...known] } : word
  }
  /** People search for tasks and troubles more often than for a type of the library or a decision. */
  const WEIGHTS = [
    [/at-3-am/, 6],
    [/diagnostics|changelog/i, 0.7],
    [/docs\/(?:tasks|records|[\w-]+\.html)|^index/, 2],
    [/docs\/(?:library|service)\/(?:index|running)/, 1],
    [/docs\/(?:decisions|library|contributors|service)\//, 0.5],
  ]
  const weightOf = (href) => WEIGHTS.find(([path]) => path.test(href))?.[1] ?? 1
  const options = {
    prefix: true,
    fuzzy: (term) => (term.length > 3 ? 0.25 : false),
    boost: { title: 4, page: 2, about: 8 },
    boostDocument: (_id, _term, { href }) => weightOf(href),
  }

  return (query) => {
    const words = spell(query)
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 0)
    const telling = words.filter((word) => word.length > 1 && !COMMON.has(word))
    const queries = (telling.length > 0 ? telling : words).map(withSynonyms)
    const search = (combineWith) => index.search({ combineWith, queries }, options)
    const all = search('AND')
    const found = new Set(all.map(({ id }) => id))
    return [...all, ...search('OR').filter(({ id }) => !found.has(id))].slice(0, 12)
  }
}
