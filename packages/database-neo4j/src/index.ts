export { Neo4jConnection } from './connection-schema.ts';
export { neo4jPlugin } from './plugin.ts';
