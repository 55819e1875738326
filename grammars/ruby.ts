/**
 * Ruby. The text of a heredoc stands behind the statement that begins it, in a node of its own, and belongs to that statement.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

/** The row on which the last heredoc ends that a construct begins on its last line; its text follows what else is on that line. */
function lastRow(construct: SyntaxNode): number | undefined {
  const { row } = construct.endPosition
  let last: number | undefined
  for (
    let after = construct.nextSibling;
    after !== null && after.startPosition.row <= (last ?? row);
    after = after.nextSibling
  ) {
    if (after.type === 'heredoc_body') last = after.endPosition.row
  }
  return last
}

export const language: Language = {
  name: 'ruby',
  extensions: ['.rb', '.rake', '.gemspec', '.ru', '.podspec', '.rbw'],
  fileNames: ['Gemfile', 'Rakefile', 'Guardfile', 'Capfile', 'Vagrantfile', 'Podfile', 'Fastfile', 'Brewfile'],
  interpreters: ['ruby', 'jruby'],
  sources: [
    {
      package: 'tree-sitter-wasms',
      file: 'out/tree-sitter-ruby.wasm',
      sha256: '93a5022855314cdb45458c7bb026a24a0ebc3a5ff6439e542e881f14dfa13a39',
    },
  ],
  sample: 'module A\n  def b(c = 1)\n    d.each { |e| puts "#{e}" }\n  end\nend\n',
  opens: [
    'module',
    'class',
    'singleton_class',
    'method',
    'singleton_method',
    'begin_block',
    'end_block',
    'if',
    'unless',
    'while',
    'until',
    'for',
    'case',
    'case_match',
    'when',
    'in_clause',
    'begin',
    'if_modifier',
    'unless_modifier',
    'while_modifier',
    'until_modifier',
    'rescue_modifier',
    'call',
    'assignment',
    'operator_assignment',
    'return',
    'next',
    'break',
    'yield',
    'super',
    'binary',
    'unary',
    'conditional',
    'element_reference',
    'hash',
    'array',
    'string',
    'string_array',
    'symbol_array',
    'lambda',
    'pair',
    'parenthesized_statements',
    'chained_string',
    'optional_parameter',
    'keyword_parameter',
    'undef',
    'alias',
  ],
  // A string in the middle of adjacent strings is a piece of one value.
  isConstruct: (node) => node.type !== 'string' || node.parent?.type !== 'chained_string',
  containers: [
    'program',
    'body_statement',
    'block_body',
    'then',
    'do',
    'begin',
    'else',
    'ensure',
    'argument_list',
    'hash',
    'array',
    'block_parameters',
    'method_parameters',
  ],
  clauses: ['else', 'elsif', 'rescue', 'ensure', 'then'],
  closers: ['end', 'heredoc_end'],
  comments: ['comment'],
  lastRow,
}
