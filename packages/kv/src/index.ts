export { kvEngine } from './kv-engine.ts';
