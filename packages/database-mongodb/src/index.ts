export { MongodbConnection } from './connection-schema.ts';
export { mongodbPlugin } from './plugin.ts';
