export { OpensearchConnection } from './connection-schema.ts';
export { opensearchPlugin } from './plugin.ts';
