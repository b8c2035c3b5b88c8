export { databaseEngine } from './database-engine.ts';
