// Stages the site's pages in src/: every Markdown file of the repository under its own
// path, and every file or folder that such a page links to, as a page that shows it. The
// pages stay readable where they are; only links are changed.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
const out = join(here, 'src')

/** How many files a folder's page shows; a larger folder's page lists their names. */
const shown = 12
const images = new Set(['.png', '.svg', '.jpg', '.gif', '.ico'])
const languages = { '.rego': 'rego', '.go': 'go', '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json', '.ts': 'ts', '.rs': 'rust', '.c': 'c', '.h': 'c', '.tf': 'hcl', '.sh': 'bash' }

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n').filter(Boolean)
const files = new Set(tracked)
const folders = new Set()
for (const file of tracked) for (let d = posix.dirname(file); d !== '.'; d = posix.dirname(d)) folders.add(d)

const done = new Set()
const queue = tracked.filter(f => f.endsWith('.md') && !f.includes('testdata/') && !f.startsWith('tools/site/'))

/** The staged path of a file or folder of the repository; null for neither. */
function staged(path) {
  if (files.has(path)) {
    if (images.has(extname(path))) return path
    return path.endsWith('.md') ? path.replace(/(^|\/)README\.md$/, '$1index.md') : path + '.md'
  }
  if (path === '.') return 'index.md'
  return folders.has(path) ? path + '/index.md' : null
}

function write(path, text) {
  mkdirSync(dirname(join(out, path)), { recursive: true })
  writeFileSync(join(out, path), text)
}

/** Changes the links of a page at `from` to those of staged pages, and queues their targets. */
function relink(text, from) {
  const base = posix.dirname(from)
  const own = posix.dirname(staged(from))
  const link = (whole, open, target, close) => {
    if (/^[a-z]+:|^#|^\/\//.test(target)) return whole
    const [path, hash] = target.split('#')
    const file = posix.normalize(posix.join(base, path)).replace(/\/$/, '')
    const to = staged(file)
    if (to === null) throw new Error(`${from}: link to ${target}, which does not exist`)
    if (!done.has(file)) queue.push(file)
    let relative = posix.relative(own, to)
    if (!relative.startsWith('.')) relative = './' + relative
    return open + relative + (hash ? '#' + hash : '') + close
  }
  // Code is left alone: fenced blocks, indented ones and spans.
  return text.split(/(^```[\s\S]*?^```|^(?: {4}|\t).*$|`[^`\n]*`)/m)
    .map((part, i) => i % 2 ? part : part.replace(/(\]\()([^)\s]+)(\))/g, link).replaceAll('{{', '&#123;&#123;')).join('')
}

const block = file => '\n```' + (languages[extname(file)] ?? 'text') + '\n' + readFileSync(join(root, file), 'utf8').trimEnd() + '\n```\n'

function folderPage(path) {
  const inside = tracked.filter(f => f.startsWith(path + '/') && !f.includes('/testdata/'))
  let text = files.has(path + '/README.md') ? relink(readFileSync(join(root, path, 'README.md'), 'utf8'), path + '/README.md') : `# ${path}\n`
  const source = inside.filter(f => posix.dirname(f) === path && !f.endsWith('.md') && extname(f) in languages && statSync(join(root, f)).size < 40_000)
  if (source.length > 0 && source.length <= shown) {
    text += '\n## Files\n'
    for (const f of source) text += `\n### ${posix.basename(f)}\n` + block(f)
  } else if (!files.has(path + '/README.md')) {
    text += '\n' + inside.map(f => '- `' + posix.relative(path, f) + '`').join('\n') + '\n'
  }
  return text
}

rmSync(out, { recursive: true, force: true })
while (queue.length > 0) {
  const path = queue.shift()
  const key = path.replace(/(^|\/)README\.md$/, '') || '.'
  if (done.has(key)) continue
  done.add(key).add(path)
  if (key !== '.' && folders.has(key)) write(key + '/index.md', folderPage(key))
  else if (key === '.') write('index.md', relink(readFileSync(join(root, 'README.md'), 'utf8'), 'README.md'))
  else if (images.has(extname(path))) cpSync(join(root, path), join(out, path))
  else if (path.endsWith('.md')) write(staged(path), relink(readFileSync(join(root, path), 'utf8'), path))
  else write(staged(path), `# ${path}\n` + block(path))
}
console.log(`${done.size} files and folders staged`)
