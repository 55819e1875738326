/**
 * Bash and the shells it grew from. A pipeline or an `&&` list is one construct with all its stages.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

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
}
