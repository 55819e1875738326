/**
 * Bash and the shells it grew from. A pipeline or an `&&` list is one construct with all its stages.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'
import { childrenOf } from '../src/syntax/language.js'

/**
 * The text of a here-document begins below the line that asks for it, whatever that line ends with. The grammar reads on behind an operator there, and takes the first lines of the
 * text for commands and the commands below it for others.
 */
function isMisread(redirect: SyntaxNode): boolean {
  let start = redirect.startIndex
  for (const child of childrenOf(redirect)) {
    if (child.type === 'heredoc_start') start = child.endIndex
    if (child.type !== 'heredoc_body' && child.type !== 'heredoc_end') continue
    const between = redirect.text.slice(start - redirect.startIndex, child.startIndex - redirect.startIndex)
    return between.replaceAll('\\\n', '').trimEnd().includes('\n')
  }
  return false
}

export const language: Language = {
  name: 'bash',
  extensions: ['.sh', '.bash', '.ebuild', '.eclass'],
  fileNames: [
    '.bashrc',
    '.bash_profile',
    '.bash_aliases',
    '.bash_login',
    '.bash_logout',
    '.profile',
    'PKGBUILD',
    'APKBUILD',
  ],
  interpreters: ['bash', 'sh', 'dash', 'ash'],
  sources: [
    {
      package: 'tree-sitter-bash',
      file: 'tree-sitter-bash.wasm',
      sha256: '8292919c88a0f7d3fb31d0cd0253ca5a9531bc1ede82b0537f2c63dd8abe6a7a',
      baseline: true,
    },
  ],
  sample: 'f() {\n  if [ -n "$1" ]; then\n    cat <<E\n${x:-$(y)}\nE\n  fi\n}\n',
  opens: [
    'function_definition',
    'if_statement',
    'for_statement',
    'c_style_for_statement',
    'while_statement',
    'case_statement',
    // A case is a branch that can be cut or replaced on its own; `elif` and `else` are not.
    'case_item',
    'compound_statement',
    'subshell',
    'list',
    'pipeline',
    'negated_command',
    'command',
    'redirected_statement',
    'test_command',
    'variable_assignment',
    'variable_assignments',
    'declaration_command',
    'unset_command',
  ],
  // The braces of a function on a line of their own are its body, not a group.
  isConstruct: (node: SyntaxNode) =>
    node.type !== 'compound_statement' ||
    (node.parent?.type !== 'function_definition' && node.parent?.type !== 'c_style_for_statement'),
  containers: ['program', 'do_group'],
  clauses: ['elif_clause', 'else_clause', 'do_group', 'then', 'else', 'elif', 'do', 'in'],
  closers: ['fi', 'done', 'esac', 'heredoc_end', ';;', ';&', ';;&'],
  comments: ['comment'],
  faultRow: (root) => root.descendantsOfType('heredoc_redirect').find(isMisread)?.startPosition.row,
}
