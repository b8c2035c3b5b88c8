export { buildingCore } from './building-core.ts';
