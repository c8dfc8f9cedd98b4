(* ==== Vector fields on the parameters ==== *)

(* A polynomial in the parameters: terms (coefficient, numbers of the parameters, with repetition). *)
Definition polynomial := list (Z * list Z).
Fixpoint total {C K : Type} (coefficient : C -> Z) (key : K -> Z) (terms : list (C * K)) : Z :=
  match terms with
  | [] => 0
  | (c, k) :: rest => coefficient c * key k + total coefficient key rest
  end.
Fixpoint monomial_value (theta : list Z) (m : list Z) : Z :=
  match m with [] => 1 | j :: rest => nth (Z.to_nat j) theta 0 * monomial_value theta rest end.
Definition value (theta : list Z) (p : polynomial) : Z := total (fun c => c) (monomial_value theta) p.

(* A vector field: (component, polynomial); the components that are not listed are 0. *)
Definition field := list (Z * polynomial).
Definition component_of (w : field) (c : nat) : polynomial :=
  match find (fun entry => Z.eqb (fst entry) (Z.of_nat c)) w with Some entry => snd entry | None => [] end.
(* the vector of a field at a point of n parameters *)
Definition field_at (n : nat) (w : field) (theta : list Z) : list Z :=
  map (fun c => value theta (component_of w c)) (seq 0 n).

Definition zero_matrix (rows columns : nat) : list (list Z) := repeat (repeat 0 columns) rows.

(* ==== The checker ==== *)

(* Sums of terms (coefficient, key) in increasing order of the keys. *)
Section Merge.
Variables (C K : Type) (compare : K -> K -> comparison) (plus : C -> C -> C) (is_zero : C -> bool).
Fixpoint merge (x : list (C * K)) : list (C * K) -> list (C * K) :=
  fix inner (y : list (C * K)) : list (C * K) :=
    match x, y with
    | [], _ => y
    | _, [] => x
    | (c, k) :: x', (d, l) :: y' =>
        match compare k l with
        | Lt => (c, k) :: merge x' y
        | Gt => (d, l) :: inner y'
        | Eq => let e := plus c d in if is_zero e then merge x' y' else (e, k) :: merge x' y'
        end
    end.
End Merge.

(* -- polynomials -- *)

Fixpoint monomial_compare (m m' : list Z) : comparison :=
  match m, m' with
  | [], [] => Eq
  | [], _ => Gt
  | _, [] => Lt
  | a :: r, b :: r' => match Z.compare a b with Eq => monomial_compare r r' | other => other end
  end.
Fixpoint monomial_product (m : list Z) : list Z -> list Z :=
  fix inner (m' : list Z) : list Z :=
    match m, m' with
    | [], _ => m'
    | _, [] => m
    | a :: r, b :: r' => if Z.leb a b then a :: monomial_product r m' else b :: inner r'
    end.
Definition polynomial_sum : polynomial -> polynomial -> polynomial :=
  merge Z (list Z) monomial_compare Z.add (Z.eqb 0).
Definition polynomial_product (p q : polynomial) : polynomial :=
  fold_right (fun term rest =>
    polynomial_sum (map (fun other => (fst term * fst other, monomial_product (snd term) (snd other))) q) rest) [] p.
Definition number (c : Z) : polynomial := if Z.eqb c 0 then [] else [(c, [])].
Definition is_nil {A : Type} (x : list A) : bool := match x with [] => true | _ => false end.

(* -- forms: sums of polynomials times symbols, which stand for rows -- *)

Inductive symbol :=
| Input (i : nat)                       (* row i of the input *)
| One                                   (* the row 1, ..., 1 *)
| Power (e i : nat)                     (* row i of the value of the activation number e *)
| Mixed (e i j : nat)                   (* x^(r-1) y, x and y the rows i and j of the input of the activation number e, of degree r *)
| Through (a : nat) (x : symbol).       (* x (K Z)^T (Q Z) of the attention layer number a with input Z *)
Fixpoint symbol_compare (x y : symbol) : comparison :=
  match x, y with
  | Input i, Input j => Nat.compare i j
  | Input _, _ => Lt
  | One, Input _ => Gt
  | One, One => Eq
  | One, _ => Lt
  | Power e i, Power f j => match Nat.compare e f with Eq => Nat.compare i j | other => other end
  | Power _ _, Mixed _ _ _ | Power _ _, Through _ _ => Lt
  | Power _ _, _ => Gt
  | Mixed e i i', Mixed f j j' =>
      match Nat.compare e f with
      | Eq => match Nat.compare i j with Eq => Nat.compare i' j' | other => other end
      | other => other
      end
  | Mixed _ _ _, Through _ _ => Lt
  | Mixed _ _ _, _ => Gt
  | Through a x', Through b y' => match Nat.compare a b with Eq => symbol_compare x' y' | other => other end
  | Through _ _, _ => Gt
  end.

Definition form := list (polynomial * symbol).
Definition form_add : form -> form -> form := merge polynomial symbol symbol_compare polynomial_sum is_nil.
Definition scale (p : polynomial) (f : form) : form :=
  match p with [] => [] | _ => map (fun term => (polynomial_product p (fst term), snd term)) f end.
Definition through (a : nat) (f : form) : form := map (fun term => (fst term, Through a (snd term))) f.
Definition form_is_zero (f : form) : bool := forallb (fun term => is_nil (fst term)) f.
Definition form_equal (f g : form) : bool := form_is_zero (form_add f (scale (number (-1)) g)).
Fixpoint form_sum (n : nat) (f : nat -> form) : form :=
  match n with O => [] | S m => form_add (form_sum m f) (f m) end.

(* -- values of the layers as rows of forms -- *)

Definition place (W : block) (i j : nat) : nat := (first_of W + i * columns_in W + j)%nat.
Definition variable (W : block) (i j : nat) : polynomial := [(1, [Z.of_nat (place W i j)])].
Definition moved (w : field) (W : block) (i j : nat) : polynomial := component_of w (place W i j).

Definition row (z : list form) (i : nat) : form := nth i z [].
Definition product_row (entries : nat -> nat -> polynomial) (z : list form) (i : nat) : form :=
  form_sum (length z) (fun j => scale (entries i j) (row z j)).
Definition product_forms (W : block) (z : list form) : list form :=
  map (product_row (variable W) z) (seq 0 (rows_in W)).
Definition add_forms (y z : list form) : list form :=
  map (fun i => form_add (row y i) (row z i)) (seq 0 (length y)).

(* the rows of the value number a, from the rows of the values before it *)
Definition node_forms (a : nat) (forms : list (list form)) (x : node) : list form :=
  match x with
  | Attention _ _ V z => map (through a) (product_forms V (nth z forms []))
  | Linear W z => product_forms W (nth z forms [])
  | Bias b z =>
      let f := nth z forms [] in
      map (fun i => form_add (row f i) (scale (variable b i 0) [(number 1, One)])) (seq 0 (length f))
  | Activation r z =>
      let f := nth z forms [] in
      if Nat.eqb r 1 then f else map (fun i => [(number 1, Power a i)]) (seq 0 (length f))
  | Sum z others => fold_left (fun f o => add_forms f (nth o forms [])) others (nth z forms [])
  end.
Definition all_forms (width : nat) (net : list node) : list (list form) :=
  collect node_forms [map (fun i => [(number 1, Input i)]) (seq 0 width)] net.

(* whether a value is a column times a row, for a reason seen here *)
Definition node_thin (t : nat) (forms : list (list form)) (a : nat) (thin : list bool) (x : node) : bool :=
  (Nat.eqb t 1 || Nat.eqb (length (nth a forms [])) 1 ||
  match x with
  | Attention Q _ _ z => Nat.eqb (rows_in Q) 1 || nth z thin false
  | Linear _ z | Activation _ z => nth z thin false
  | _ => false
  end)%bool.
Definition all_thin (t width : nat) (net : list node) (forms : list (list form)) : list bool :=
  collect (node_thin t forms) [(Nat.eqb t 1 || Nat.eqb width 1)%bool] net.

(* -- variations along a field -- *)

(* What is known of a layer's variation. Attention with input Z: d(KZ) = L KZ + B QZ and d(QZ) = C KZ + H QZ, where
   H + L^T = g 1, and B = C = 0, or, if Z is thin, B and C are antisymmetric: then d((KZ)^T QZ) = g (KZ)^T QZ.
   An activation: row i of its input varies by c_i times itself, or by the sum of P_ij times row j. *)
Inductive witness :=
| Plain
| Factors (c : list Z)
| Mixes (P : list (list polynomial))
| Scores (L B C H : list (list Z)) (g : Z).

(* row i of W z, to first order: the field's entries of W times z, and W times dz *)
Definition changed_row (w : field) (W : block) (z dz : list form) (i : nat) : form :=
  form_add (product_row (moved w W) z i) (product_row (variable W) dz i).
Definition changed_product (w : field) (W : block) (z dz : list form) : list form :=
  map (changed_row w W z dz) (seq 0 (rows_in W)).

Definition entry_of (P : list (list polynomial)) (i j : nat) : polynomial := nth j (nth i P []) [].
(* x_i^(r-1) x_j for the rows x_1, x_2, ... before the activation number a of degree r *)
Definition mixed (r a i j : nat) : symbol :=
  if Nat.eqb i j then Power a i
  else if (Nat.eqb r 2 && Nat.ltb j i)%bool then Mixed a j i else Mixed a i j.

(* the variation of the value number a along the field w *)
Definition node_change (w : field) (forms : list (list form)) (a : nat) (changes : list (list form))
    (item : node * witness) : list form :=
  match fst item with
  | Attention _ _ V z =>
      let g := match snd item with Scores _ _ _ _ g => g | _ => 0 end in
      let dV := changed_product w V (nth z forms []) (nth z changes []) in
      map (fun i => form_add (through a (row dV i)) (scale (number g) (row (nth a forms []) i))) (seq 0 (rows_in V))
  | Linear W z => changed_product w W (nth z forms []) (nth z changes [])
  | Bias b z =>
      let dz := nth z changes [] in
      map (fun i => form_add (row dz i) (scale (moved w b i 0) [(number 1, One)])) (seq 0 (length dz))
  | Activation r z =>
      let dz := nth z changes [] in
      if Nat.eqb r 1 then dz else
      map (fun i => match snd item with
        | Factors c => scale (number (Z.of_nat r * nth i c 0)) [(number 1, Power a i)]
        | Mixes P => scale (number (Z.of_nat r)) (form_sum (length dz) (fun j => scale (entry_of P i j) [(number 1, mixed r a i j)]))
        | _ => []
        end) (seq 0 (length dz))
  | Sum z others => fold_left (fun f o => add_forms f (nth o changes [])) others (nth z changes [])
  end.

(* -- what is checked of a layer, and of its variation -- *)

Definition node_fits (n : nat) (forms : list (list form)) (a : nat) (x : node) : bool :=
  (forallb (fun z => Nat.ltb z a) (reads x) &&
  match x with
  | Attention Q K V z =>
      let d := length (nth z forms []) in
      fits n Q (rows_in Q) d && fits n K (rows_in Q) d && fits n V (rows_in V) d
  | Linear W z => fits n W (rows_in W) (length (nth z forms []))
  | Bias b z => fits n b (length (nth z forms [])) 1
  | Activation _ _ => true
  | Sum z others => forallb (fun o => Nat.eqb (length (nth o forms [])) (length (nth z forms []))) others
  end)%bool.

Definition coefficient (M : list (list Z)) (i j : nat) : Z := nth j (nth i M []) 0.
Definition combination (M : list (list Z)) (z : list form) (i : nat) : form :=
  product_row (fun i j => number (coefficient M i j)) z i.
(* the conditions on L, B, C, H and g, for a rows *)
Definition scores_check (thin : bool) (a : nat) (L B C H : list (list Z)) (g : Z) : bool :=
  below a (fun u => below a (fun v =>
    Z.eqb (coefficient H u v + coefficient L v u) (if Nat.eqb u v then g else 0) &&
    if thin then Z.eqb (coefficient B u v + coefficient B v u) 0 && Z.eqb (coefficient C u v + coefficient C v u) 0
    else Z.eqb (coefficient B u v) 0 && Z.eqb (coefficient C u v) 0))%bool.
(* the equations of a witness, as equations between forms *)
Definition change_check (w : field) (forms : list (list form)) (thin : list bool) (changes : list (list form))
    (item : node * witness) : bool :=
  match item with
  | (Attention Q K _ z, Scores L B C H g) =>
      let f := nth z forms [] in
      let df := nth z changes [] in
      let q := product_forms Q f in
      let k := product_forms K f in
      (scores_check (nth z thin false) (rows_in Q) L B C H g &&
      below (rows_in Q) (fun u =>
        form_equal (changed_row w K f df u) (form_add (combination L k u) (combination B q u)) &&
        form_equal (changed_row w Q f df u) (form_add (combination C k u) (combination H q u))))%bool
  | (Attention _ _ _ _, _) => false
  | (Activation r z, Factors c) =>
      (Nat.eqb r 1 || below (length (nth z forms [])) (fun i =>
        form_equal (row (nth z changes []) i) (scale (number (nth i c 0)) (row (nth z forms []) i))))%bool
  | (Activation r z, Mixes P) =>
      let f := nth z forms [] in
      (Nat.eqb r 1 || below (length f) (fun i =>
        form_equal (row (nth z changes []) i) (product_row (entry_of P) f i)))%bool
  | (Activation r z, _) => Nat.eqb r 1
  | _ => true
  end.

(* one field: the witnesses are right, and the output does not change *)
Definition check_field (net : list node) (output : nat) (forms : list (list form)) (thin : list bool)
    (checked : field * list witness) : bool :=
  let (w, witnesses) := checked in
  let items := combine net witnesses in
  let changes := collect (node_change w forms) [map (fun _ => []) (nth 0 forms [])] items in
  (Nat.eqb (length witnesses) (length net) &&
  forallb (change_check w forms thin changes) items &&
  forallb form_is_zero (nth output changes []))%bool.
(* n parameters; inputs of shape width x t, values of shape height x t *)
Definition check_fields (n width height t : nat) (net : list node) (output : nat)
    (fields : list (field * list witness)) : bool :=
  let forms := all_forms width net in
  let thin := all_thin t width net forms in
  (Nat.leb output (length net) && Nat.eqb (length (nth output forms [])) height &&
  below (length net) (fun i => node_fits n forms (S i) (nth i net nowhere)) &&
  forallb (check_field net output forms thin) fields)%bool.
