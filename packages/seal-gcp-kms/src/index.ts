export { createGcpKmsSeal, gcpKmsSeal, type GcpKmsOptions } from './plugin.ts';
