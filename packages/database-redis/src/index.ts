export { RedisConnection } from './connection-schema.ts';
export { redisPlugin, valkeyPlugin } from './plugin.ts';
