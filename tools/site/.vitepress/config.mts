import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { sidebar, slug } from './nav.mjs'

export default defineConfig({
  title: 'Spokeshave',
  description: 'A Kubernetes node autoscaler for EC2 whose decisions that cost money are yours',
  lang: 'en',
  srcDir: 'src',
  cacheDir: '../../.cache/site',
  // Relative addresses would let the site work from any folder; VitePress needs to know it.
  base: process.env.SITE_BASE ?? '/',
  cleanUrls: false,
  metaChunk: true,
  // Headings get the names that GitHub gives them, so that one link works in both places.
  markdown: {
    anchor: { slugify: slug },
    html: false,
    languageAlias: { rego: 'javascript' },
    // The default themes have colours with less than 4.5 : 1 to the background (WCAG 2.2, 1.4.3).
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Blocks that scroll can be reached by keyboard; the theme does this for fenced ones only.
    config: md => {
      const block = md.renderer.rules.code_block!
      md.renderer.rules.code_block = (...args) => block(...args).replace('<pre', '<pre tabindex="0"')
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Try it', link: '/#try-it' },
      { text: 'Concepts', link: '/docs/concepts/' },
      { text: 'Install', link: '/docs/install' },
      { text: 'Cookbook', link: '/docs/cookbook/' },
      { text: 'Reference', link: '/docs/#reference' },
      { text: 'All pages', link: '/docs/' },
    ],
    sidebar: sidebar(fileURLToPath(new URL('../src/docs/index.md', import.meta.url))),
  },
})
