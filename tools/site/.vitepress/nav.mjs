// The sidebar is the table of contents in docs/README.md: one group for each heading, one
// entry for each link in its table.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** @param {string} file the staged docs/index.md */
export function sidebar(file) {
  const groups = [{ text: 'Start', items: [{ text: 'What it is', link: '/' }, { text: 'All pages', link: '/docs/' }] }]
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const heading = /^## (.+)$/.exec(line)
    if (heading) groups.push({ text: heading[1], items: [], collapsed: groups.length > 2 })
    const row = /^\| \[([^\]]+)\]\(([^)#]+)[^)]*\)/.exec(line)
    if (row) groups.at(-1).items.push({ text: row[1], link: '/' + posix.join('docs', row[2]).replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '') })
  }
  return groups
}
