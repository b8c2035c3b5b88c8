import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { literalBraces } from './literal-braces.js';
import { areasOf } from './operations.js';
import { toRepository } from './to-repository.js';

const entry = (text, link) => ({ text, link });

/** The pages of the API, once the OpenAPI document is written. */
function apiEntries() {
  const document = new URL('../../.strongroom/openapi.json', import.meta.url);
  if (!existsSync(document)) return [];
  return [...areasOf(JSON.parse(readFileSync(document, 'utf8'))).keys()]
    .sort()
    .map((area) => entry(area.replace('-', '/'), `/api/${area}`));
}

const guide = [
  {
    text: 'Use it',
    items: [
      entry('Overview', '/'),
      entry('Getting started', '/getting-started'),
      entry('The console', '/console'),
      entry('Events', '/events'),
      entry('Second factors', '/mfa'),
      entry('Identity tokens', '/identity-tokens'),
      entry('Quotas', '/quotas'),
      entry('Production guide', '/production'),
      entry('Operating', '/operating'),
      entry('Monitoring', '/monitoring'),
      entry('Errors', '/errors'),
      entry('Security', '/security'),
      entry('Differences', '/differences'),
      entry('Performance', '/performance'),
    ],
  },
  {
    text: 'Secrets engines',
    items: [
      entry('Database users', '/engines/database'),
      entry('Databases', '/databases/'),
      entry('Encryption as a service', '/engines/transit'),
      entry('One-time codes', '/engines/totp'),
      entry('Directory accounts', '/engines/ldap-secrets'),
      entry('RabbitMQ users', '/engines/rabbitmq'),
      entry('Tokens of Kubernetes', '/engines/kubernetes-secrets'),
      entry('AWS credentials', '/engines/aws'),
      entry('Secret sync', '/engines/sync'),
      entry('Destinations', '/sync/'),
    ],
  },
  {
    text: 'Login methods',
    items: [
      entry('Programs', '/engines/approle'),
      entry('Passwords', '/engines/userpass'),
      entry('Signed tokens', '/engines/jwt'),
      entry('A browser', '/engines/oidc'),
      entry('Service accounts', '/engines/kubernetes'),
      entry('Client certificates', '/engines/cert'),
      entry('A directory', '/engines/ldap-auth'),
    ],
  },
  {
    text: 'Extend it',
    items: [
      entry('Concepts', '/concepts'),
      entry('Architecture', '/architecture'),
      entry('Embedding', '/embedding'),
      entry('Writing an engine', '/writing-an-engine'),
      entry('Writing a database plugin', '/writing-a-database-plugin'),
      entry('Writing a sync destination', '/writing-a-sync-destination'),
    ],
  },
  {
    text: 'Look up',
    items: [
      entry('Reference', '/reference/'),
      entry('API', '/api/'),
      entry('Glossary', '/glossary'),
      entry('Principles', '/principles'),
      entry('Decisions', '/decisions/'),
    ],
  },
];

export default defineConfig({
  title: 'Strongroom',
  description: 'A secrets server that speaks the API of Vault and OpenBao.',
  lang: 'en',
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  markdown: { config: (md) => md.use(literalBraces).use(toRepository, 'https://github.com/strongroom/strongroom') },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      entry('Guide', '/getting-started'),
      entry('Reference', '/reference/'),
      entry('API', '/api/'),
      entry('Extend', '/writing-an-engine'),
    ],
    sidebar: { '/api/': [entry('Overview', '/'), { text: 'API', items: [entry('How to call it', '/api/'), ...apiEntries()] }], '/': guide },
  },
});
