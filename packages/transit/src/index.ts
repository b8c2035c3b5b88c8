export { transitEngine } from './transit-engine.ts';
