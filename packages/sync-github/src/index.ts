export { GithubApp } from './app.ts';
export { GithubConnection } from './connection.ts';
export { githubDestination } from './plugin.ts';
