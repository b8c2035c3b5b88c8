export { GithubApp } from './app.ts';
export type { GithubOptions } from './connection.ts';
export { GithubConnection } from './connection.ts';
export { createGithubDestination, githubDestination } from './plugin.ts';
