export { rabbitmqEngine } from './rabbitmq-engine.ts';
