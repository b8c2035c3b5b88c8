/** A value that is there, or that comes later: who waits for what is there already costs a request memory and turns. */
export type MaybePromise<T> = T | Promise<T>;
