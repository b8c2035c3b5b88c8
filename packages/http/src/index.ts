export type { ApiOptions, Observation } from './api-handler.ts';
export { coreRouter } from './core-router.ts';
export type { CoreHandler, CoreRequest, CoreResponse, CorsDecision, CorsPolicy } from './core-types.ts';
