/** Links that leave `docs/` lead into the repository, where their targets are; folders and files have different addresses there. */
export function toRepository(md, repository) {
  md.core.ruler.push('to-repository', ({ tokens, env }) => {
    const depth = env.relativePath.split('/').length;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue;
      const target = outside(token.attrGet('href') ?? '', depth);
      if (target === undefined) continue;
      const isFile = /\.\w+(#.*)?$/.test(target) || /(^|\/)LICENSE$/.test(target);
      token.attrSet('href', `${repository}/${isFile ? 'blob' : 'tree'}/main/${target}`);
    }
  });
}

/** The path from the repository's root, of a link with enough `../` to leave `docs/` from a page so many levels deep. */
function outside(href, depth) {
  const up = /^(?:\.\.\/)+/.exec(href)?.[0].length ?? 0;
  return up / 3 >= depth ? href.slice(up) : undefined;
}
