export { etcdStorage } from './etcd-storage.ts';
export type { EtcdOptions } from './options.ts';
