// The sidebar is the table of contents in docs/README.md: one group for each heading, which
// leads to it, one entry for each link in its table. Groups are links because the theme
// makes a button with a button in it of those that are none. Below an entry that leads to
// the first page of a folder are the pages of the folder that this page links to.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** The address of the page in a file, relative to docs. */
const address = file => '/' + posix.join('docs', file).replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')

/** The pages of its own folder that the first page of a folder links to, by their titles. */
function inside(docs, index) {
  const folder = posix.dirname(index)
  const items = []
  for (const [, name] of readFileSync(join(docs, index), 'utf8').matchAll(/\]\((?:\.\/)?([\w-]+\.md)(?:#[^)]*)?\)/g)) {
    const file = posix.join(folder, name)
    if (file === index || items.some(i => i.link === address(file)) || !existsSync(join(docs, file))) continue
    const title = /^# (.+)$/m.exec(readFileSync(join(docs, file), 'utf8'))
    items.push({ text: title ? title[1].replaceAll('`', '') : name, link: address(file) })
  }
  return items
}

/** The name that GitHub gives a heading. */
export const slug = s => s.trim().toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-')

/** @param {string} file the staged docs/index.md */
export function sidebar(file) {
  const groups = [{ text: 'Start', link: '/', items: [{ text: 'Overview', link: '/' }, { text: 'All pages', link: '/docs/' }] }]
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const heading = /^## (.+)$/.exec(line)
    if (heading) groups.push({ text: heading[1], link: '/docs/#' + slug(heading[1]), items: [], collapsed: groups.length > 4 })
    const row = /^\| \[([^\]]+)\]\(([^)#]+)[^)]*\)/.exec(line)
    if (!row) continue
    const page = posix.normalize(row[2])
    const folder = page.endsWith('/index.md') && !page.startsWith('concepts/') // the concepts have rows of their own
    const items = folder ? inside(dirname(file), page) : []
    groups.at(-1).items.push({ text: row[1], link: address(page), ...(items.length > 0 && { items, collapsed: true }) })
  }
  return groups
}
