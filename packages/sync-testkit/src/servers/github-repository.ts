import type { GithubRepository } from './github-store.ts';

const ADDRESSES: readonly (readonly [field: string, path: string])[] = [
  ['archive_url', '/{archive_format}{/ref}'],
  ['assignees_url', '/assignees{/user}'],
  ['blobs_url', '/git/blobs{/sha}'],
  ['branches_url', '/branches{/branch}'],
  ['collaborators_url', '/collaborators{/collaborator}'],
  ['comments_url', '/comments{/number}'],
  ['commits_url', '/commits{/sha}'],
  ['compare_url', '/compare/{base}...{head}'],
  ['contents_url', '/contents/{+path}'],
  ['contributors_url', '/contributors'],
  ['deployments_url', '/deployments'],
  ['downloads_url', '/downloads'],
  ['events_url', '/events'],
  ['forks_url', '/forks'],
  ['git_commits_url', '/git/commits{/sha}'],
  ['git_refs_url', '/git/refs{/sha}'],
  ['git_tags_url', '/git/tags{/sha}'],
  ['hooks_url', '/hooks'],
  ['issue_comment_url', '/issues/comments{/number}'],
  ['issue_events_url', '/issues/events{/number}'],
  ['issues_url', '/issues{/number}'],
  ['keys_url', '/keys{/key_id}'],
  ['labels_url', '/labels{/name}'],
  ['languages_url', '/languages'],
  ['merges_url', '/merges'],
  ['milestones_url', '/milestones{/number}'],
  ['notifications_url', '/notifications{?since,all,participating}'],
  ['pulls_url', '/pulls{/number}'],
  ['releases_url', '/releases{/id}'],
  ['stargazers_url', '/stargazers'],
  ['statuses_url', '/statuses/{sha}'],
  ['subscribers_url', '/subscribers'],
  ['subscription_url', '/subscription'],
  ['tags_url', '/tags'],
  ['teams_url', '/teams'],
  ['trees_url', '/git/trees{/sha}'],
];

/** A repository as lists have it. `base` is the address of the API. */
export function minimalRepository(repository: GithubRepository, base: string): Record<string, unknown> {
  const full = `${repository.owner}/${repository.name}`;
  const url = `${base}/repos/${full}`;
  return {
    id: repository.id,
    node_id: Buffer.from(`010:Repository${repository.id}`).toString('base64'),
    name: repository.name,
    full_name: full,
    owner: owner(repository.owner, base),
    private: true,
    html_url: `${base}/${full}`,
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(ADDRESSES.map(([field, path]) => [field, `${url}${path}`])),
  };
}

/** A repository as it is asked for by name. */
export function fullRepository(repository: GithubRepository, base: string): Record<string, unknown> {
  const full = `${repository.owner}/${repository.name}`;
  const [none, when] = [0, '2020-01-01T00:00:00Z'];
  return {
    ...minimalRepository(repository, base),
    clone_url: `${base}/${full}.git`,
    git_url: `git://example.invalid/${full}.git`,
    ssh_url: `git@example.invalid:${full}.git`,
    svn_url: `${base}/${full}`,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    default_branch: 'main',
    forks: none,
    forks_count: none,
    open_issues: none,
    open_issues_count: none,
    size: none,
    stargazers_count: none,
    watchers: none,
    watchers_count: none,
    network_count: none,
    subscribers_count: none,
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    archived: false,
    disabled: false,
    pushed_at: when,
    created_at: when,
    updated_at: when,
  };
}

function owner(login: string, base: string): Record<string, unknown> {
  const url = `${base}/users/${login}`;
  return {
    login,
    id: 1,
    node_id: 'MDQ6VXNlcjE=',
    avatar_url: `${base}/avatars/${login}`,
    gravatar_id: '',
    url,
    html_url: `${base}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: 'Organization',
    site_admin: false,
  };
}
