export { syncEngine } from './sync-engine.ts';
