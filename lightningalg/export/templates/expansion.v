(* ==== Networks whose output is a combination of few polynomials in the parameters ==== *)

(* The layers over any ring; over dual numbers they are those of the beginning. *)
Section Layers.
Variables (R : Type) (zero one : R) (add mul : R -> R -> R).
Fixpoint ring_dot (x y : list R) : R :=
  match x, y with a :: x', b :: y' => add (mul a b) (ring_dot x' y') | _, _ => zero end.
Definition ring_column (A : list (list R)) (j : nat) : list R := map (fun row => nth j row zero) A.
Definition ring_transpose (columns : nat) (A : list (list R)) : list (list R) := map (ring_column A) (seq 0 columns).
Definition ring_product (columns : nat) (A B : list (list R)) : list (list R) :=
  let T := ring_transpose columns B in map (fun row => map (ring_dot row) T) A.
Fixpoint ring_add_rows (x y : list R) : list R :=
  match x, y with a :: x', b :: y' => add a b :: ring_add_rows x' y' | _, _ => [] end.
Fixpoint ring_add_matrices (A B : list (list R)) : list (list R) :=
  match A, B with x :: A', y :: B' => ring_add_rows x y :: ring_add_matrices A' B' | _, _ => [] end.
Fixpoint ring_power (x : R) (n : nat) : R := match n with O => one | S m => mul x (ring_power x m) end.
Definition ring_attention (t : nat) (Q K V X : list (list R)) : list (list R) :=
  let scores := ring_product t (ring_transpose t (ring_product t K X)) (ring_product t Q X) in
  ring_product t V (ring_product t X scores).
Definition ring_activation (degree : nat) (X : list (list R)) := map (map (fun x => ring_power x degree)) X.
Definition ring_bias (b X : list (list R)) : list (list R) :=
  map (fun p => map (add (nth 0 (fst p) zero)) (snd p)) (combine b X).
Fixpoint ring_rows (count columns : nat) (values : list R) : list (list R) :=
  match count with O => [] | S m => firstn columns values :: ring_rows m columns (skipn columns values) end.
Definition ring_block (W : block) (theta : list R) : list (list R) :=
  match W with Block first rows columns => ring_rows rows columns (skipn first theta) end.
Definition ring_node (t : nat) (theta : list R) (number : nat) (values : list (list (list R))) (x : node) :=
  match x with
  | Attention Q K V z => ring_attention t (ring_block Q theta) (ring_block K theta) (ring_block V theta) (nth z values [])
  | Linear W z => ring_product t (ring_block W theta) (nth z values [])
  | Bias b z => ring_bias (ring_block b theta) (nth z values [])
  | Activation degree z => ring_activation degree (nth z values [])
  | Sum z others => fold_left (fun F o => ring_add_matrices F (nth o values [])) others (nth z values [])
  end.
Definition ring_run (t : nat) (net : list node) (output : nat) (theta : list R) (X : list (list R)) : list (list R) :=
  nth output (collect (ring_node t theta) [X] net) [].
End Layers.

Lemma run_over_dual_numbers : ring_run dual dzero done dadd dmul = run.
Proof. reflexivity. Qed.

(* A map of rings commutes with networks. *)
Section Homomorphism.
Variables (R : Type) (zero one : R) (add mul : R -> R -> R).
Variables (R' : Type) (zero' one' : R') (add' mul' : R' -> R' -> R') (h : R -> R').
Hypothesis h_zero : h zero = zero'.
Hypothesis h_one : h one = one'.
Hypothesis h_add : forall x y, h (add x y) = add' (h x) (h y).
Hypothesis h_mul : forall x y, h (mul x y) = mul' (h x) (h y).

Lemma h_dot : forall x y, h (ring_dot R zero add mul x y) = ring_dot R' zero' add' mul' (map h x) (map h y).
Proof. induction x as [|a x IH]; intros [|b y]; cbn; try exact h_zero. rewrite h_add, h_mul, IH. reflexivity. Qed.
Lemma h_transpose : forall t A, map (map h) (ring_transpose R zero t A) = ring_transpose R' zero' t (map (map h) A).
Proof.
  intros. unfold ring_transpose. rewrite map_map. apply map_ext. intros j. unfold ring_column.
  rewrite !map_map. apply map_ext. intros x. rewrite <- h_zero. symmetry. apply map_nth.
Qed.
Lemma h_product : forall t A B, map (map h) (ring_product R zero add mul t A B) =
  ring_product R' zero' add' mul' t (map (map h) A) (map (map h) B).
Proof.
  intros. unfold ring_product. cbv zeta. rewrite <- h_transpose, !map_map. apply map_ext. intros x.
  rewrite !map_map. apply map_ext. intros y. apply h_dot.
Qed.
Lemma h_add_rows : forall x y, map h (ring_add_rows R add x y) = ring_add_rows R' add' (map h x) (map h y).
Proof. induction x as [|a x IH]; intros [|b y]; cbn; try reflexivity. rewrite h_add, IH. reflexivity. Qed.
Lemma h_add_matrices : forall A B, map (map h) (ring_add_matrices R add A B) =
  ring_add_matrices R' add' (map (map h) A) (map (map h) B).
Proof. induction A as [|a A IH]; intros [|b B]; cbn; try reflexivity. rewrite h_add_rows, IH. reflexivity. Qed.
Lemma h_power : forall x n, h (ring_power R one mul x n) = ring_power R' one' mul' (h x) n.
Proof. induction n; cbn; [exact h_one|]. rewrite h_mul, IHn. reflexivity. Qed.
Lemma h_rows : forall columns count x, map (map h) (ring_rows R count columns x) = ring_rows R' count columns (map h x).
Proof. induction count; intros x; cbn; [reflexivity|]. rewrite firstn_map, skipn_map, IHcount. reflexivity. Qed.
Lemma h_block : forall W theta, map (map h) (ring_block R W theta) = ring_block R' W (map h theta).
Proof. intros [first rows columns] theta. cbn. rewrite h_rows, skipn_map. reflexivity. Qed.
Lemma h_attention : forall t Q K V X, map (map h) (ring_attention R zero add mul t Q K V X) =
  ring_attention R' zero' add' mul' t (map (map h) Q) (map (map h) K) (map (map h) V) (map (map h) X).
Proof. intros. unfold ring_attention. cbv zeta. rewrite !h_product, h_transpose, !h_product. reflexivity. Qed.
Lemma h_bias : forall b X, map (map h) (ring_bias R zero add b X) = ring_bias R' zero' add' (map (map h) b) (map (map h) X).
Proof.
  induction b as [|x b IH]; intros [|y X]; try reflexivity.
  change (map h (map (add (nth 0 x zero)) y) :: map (map h) (ring_bias R zero add b X) =
    map (add' (nth 0 (map h x) zero')) (map h y) :: ring_bias R' zero' add' (map (map h) b) (map (map h) X)).
  rewrite IH, !map_map. f_equal. apply map_ext. intros z. rewrite h_add, <- h_zero, map_nth. reflexivity.
Qed.
Lemma h_activation : forall degree X, map (map h) (ring_activation R one mul degree X) =
  ring_activation R' one' mul' degree (map (map h) X).
Proof.
  intros. unfold ring_activation. rewrite !map_map. apply map_ext. intros x. rewrite !map_map. apply map_ext.
  intros y. apply h_power.
Qed.
Lemma h_nth : forall z values, map (map h) (nth z values []) = nth z (map (map (map h)) values) [].
Proof. intros. exact (eq_sym (map_nth (map (map h)) values [] z)). Qed.
Lemma h_sum : forall values others X, map (map h) (fold_left (fun F o => ring_add_matrices R add F (nth o values [])) others X) =
  fold_left (fun F o => ring_add_matrices R' add' F (nth o (map (map (map h)) values) [])) others (map (map h) X).
Proof. induction others as [|o rest IH]; intros X; cbn; [reflexivity|]. rewrite IH, h_add_matrices, h_nth. reflexivity. Qed.
Lemma h_node : forall t theta number values x,
  map (map h) (ring_node R zero one add mul t theta number values x) =
  ring_node R' zero' one' add' mul' t (map h theta) number (map (map (map h)) values) x.
Proof.
  intros. destruct x; cbn; rewrite <- ?h_nth, <- ?h_block.
  - apply h_attention. - apply h_product. - apply h_bias. - apply h_activation. - rewrite h_nth. rewrite <- h_nth. apply h_sum.
Qed.
Lemma h_collect : forall t theta net values,
  map (map (map h)) (collect (ring_node R zero one add mul t theta) values net) =
  collect (ring_node R' zero' one' add' mul' t (map h theta)) (map (map (map h)) values) net.
Proof.
  induction net as [|x net IH]; intros values; cbn; [reflexivity|].
  rewrite IH, map_app, map_length. cbn. rewrite h_node. reflexivity.
Qed.
Theorem h_run : forall t net output theta X, map (map h) (ring_run R zero one add mul t net output theta X) =
  ring_run R' zero' one' add' mul' t net output (map h theta) (map (map h) X).
Proof. intros. unfold ring_run. rewrite h_nth, h_collect. reflexivity. Qed.
End Homomorphism.

(* -- polynomials at dual numbers -- *)

Fixpoint dual_monomial (point : list dual) (m : list Z) : dual :=
  match m with [] => done | j :: rest => dmul (nth (Z.to_nat j) point dzero) (dual_monomial point rest) end.
Fixpoint dual_value (point : list dual) (p : polynomial) : dual :=
  match p with
  | [] => dzero
  | (c, m) :: rest => dadd (dmul (c, 0) (dual_monomial point m)) (dual_value point rest)
  end.

Lemma dual_monomial_product : forall point m m',
  dual_monomial point (monomial_product m m') = dmul (dual_monomial point m) (dual_monomial point m').
Proof.
  induction m as [|a m IH]; [intros [|b m']; cbn; ring|].
  induction m' as [|b m' IH']; [cbn; ring|]. rewrite monomial_product_cons. destruct (Z.leb a b); cbn [dual_monomial].
  - rewrite IH. cbn [dual_monomial]. ring.
  - rewrite IH'. cbn [dual_monomial]. ring.
Qed.
Lemma dual_sum : forall point p q, dual_value point (polynomial_sum p q) = dadd (dual_value point p) (dual_value point q).
Proof.
  intros point. unfold polynomial_sum. induction p as [|[c k] p IH]; [intros [|[d l] q]; cbn; ring|].
  induction q as [|[d l] q IH']; [cbn; ring|]. rewrite merge_cons.
  destruct (monomial_compare k l) eqn:E.
  - apply monomial_compare_eq in E. subst l.
    assert (S : dmul (c + d, 0) (dual_monomial point k) = dadd (dmul (c, 0) (dual_monomial point k)) (dmul (d, 0) (dual_monomial point k)))
      by (replace (c + d, 0) with (dadd (c, 0) (d, 0)) by reflexivity; ring).
    cbv zeta. destruct (Z.eqb_spec 0 (c + d)) as [Z0|N]; cbn [dual_value]; rewrite IH.
    + replace (dadd (dual_value point p) (dual_value point q)) with
        (dadd (dmul (c + d, 0) (dual_monomial point k)) (dadd (dual_value point p) (dual_value point q)));
        [rewrite S; ring|]. rewrite <- Z0. change (0, 0) with dzero. ring.
    + rewrite S. ring.
  - cbn [dual_value]. rewrite IH. cbn [dual_value]. ring.
  - cbn [dual_value]. rewrite IH'. cbn [dual_value]. ring.
Qed.
Lemma dual_product : forall point p q, dual_value point (polynomial_product p q) = dmul (dual_value point p) (dual_value point q).
Proof.
  intros point p q. unfold polynomial_product. induction p as [|[c k] p IH]; cbn; [ring|].
  rewrite dual_sum, IH.
  assert (E : dual_value point (map (fun other => (c * fst other, monomial_product k (snd other))) q) =
    dmul (dmul (c, 0) (dual_monomial point k)) (dual_value point q)).
  { clear. induction q as [|[d l] q IH]; cbn; [ring|]. rewrite IH, dual_monomial_product.
    replace (c * d, 0) with (dmul (c, 0) (d, 0)) by (unfold dmul; cbn; f_equal; ring). ring. }
  cbn in E. rewrite E. ring.
Qed.
Lemma dual_number : forall point c, dual_value point (number c) = (c, 0).
Proof.
  intros. unfold number. destruct (Z.eqb_spec c 0); [subst; reflexivity|]. cbn. unfold dadd, dmul, done, dzero. cbn. f_equal; ring.
Qed.

(* -- the network with parameters and inputs as variables -- *)

Definition indeterminate (j : nat) : polynomial := [(1, [Z.of_nat j])].
Definition parameter_variables (n : nat) : list polynomial := map indeterminate (seq 0 n).
(* the entries of the input, row by row, are the variables n, n + 1, ... *)
Definition input_variables (n width t : nat) : list (list polynomial) :=
  map (fun i => map (fun k => indeterminate (n + i * t + k)) (seq 0 t)) (seq 0 width).
Definition expansion (n width t : nat) (net : list node) (output : nat) : list (list polynomial) :=
  ring_run polynomial [] (number 1) polynomial_sum polynomial_product t net output (parameter_variables n)
    (input_variables n width t).

Lemma indeterminate_value : forall point j, dual_value point (indeterminate j) = nth j point dzero.
Proof.
  intros. cbn. rewrite Nat2Z.id. change (1, 0) with done. change (0, 0) with dzero. ring.
Qed.
Lemma list_of_nth : forall (A : Type) (d : A) x, map (fun j => nth j x d) (seq 0 (length x)) = x.
Proof.
  intros A d x. apply (nth_ext _ _ d d); rewrite ?map_length, ?seq_length; [reflexivity|].
  intros k Hk. apply nth_map_seq. assumption.
Qed.
Lemma parameters_at : forall theta rest n, length theta = n ->
  map (dual_value (theta ++ rest)) (parameter_variables n) = theta.
Proof.
  intros theta rest n <-. unfold parameter_variables. rewrite map_map.
  transitivity (map (fun j => nth j theta dzero) (seq 0 (length theta))); [|apply list_of_nth]. apply map_ext_in. intros j Hj. apply in_seq in Hj. rewrite indeterminate_value. apply app_nth1. lia.
Qed.
Lemma rows_at : forall t X theta, rectangular t X -> forall width, length X = width -> forall before,
  map (map (dual_value (theta ++ before ++ concat X)))
    (map (fun i => map (fun k => indeterminate (length theta + length before + i * t + k)) (seq 0 t)) (seq 0 width)) = X.
Proof.
  induction X as [|x X IH]; intros theta HX [|width] L before; try discriminate; [reflexivity|].
  inversion_clear HX as [|? ? Hx HX']. cbn [seq map]. f_equal.
  - rewrite map_map. transitivity (map (fun k => nth k x dzero) (seq 0 (length x))); [|apply list_of_nth].
    rewrite Hx. apply map_ext_in. intros k Hk. apply in_seq in Hk.
    rewrite indeterminate_value, app_nth2, app_nth2 by lia. cbn [concat]. rewrite app_nth1 by lia. f_equal. lia.
  - rewrite <- seq_shift, map_map. specialize (IH theta HX' width ltac:(cbn in L; lia) (before ++ x)).
    rewrite <- app_assoc in IH. cbn [concat]. etransitivity; [|exact IH]. rewrite !map_map. apply map_ext. intros i.
    rewrite !map_map. apply map_ext. intros k. f_equal. f_equal. rewrite app_length. lia.
Qed.
Lemma inputs_at : forall theta n width t X, length theta = n -> length X = width -> rectangular t X ->
  map (map (dual_value (theta ++ concat X))) (input_variables n width t) = X.
Proof.
  intros theta n width t X <- L H. pose proof (rows_at t X theta H width L []) as E. cbn in E. rewrite Nat.add_0_r in E.
  exact E.
Qed.
Theorem expansion_value : forall n width t net output theta X,
  length theta = n -> length X = width -> rectangular t X ->
  run t net output theta X = map (map (dual_value (theta ++ concat X))) (expansion n width t net output).
Proof.
  intros n width t net output theta X Ht HX R. unfold expansion. rewrite <- run_over_dual_numbers.
  rewrite (h_run _ _ _ _ _ _ dzero done dadd dmul (dual_value (theta ++ concat X))); try reflexivity.
  - rewrite parameters_at, inputs_at by assumption. reflexivity.
  - apply dual_sum.
  - apply dual_product.
Qed.

(* -- outputs that are combinations of few polynomials in the parameters: the coefficients -- *)

Definition uses_only (first last : nat) (p : polynomial) : bool :=
  forallb (fun term => forallb (fun j => Z.leb (Z.of_nat first) j && Z.ltb j (Z.of_nat last))%bool (snd term)) p.
Definition polynomial_equal (p q : polynomial) : bool :=
  is_nil (polynomial_sum p (polynomial_product (number (-1)) q)).
Definition polynomial_dot : list polynomial -> list polynomial -> polynomial :=
  ring_dot polynomial [] polynomial_sum polynomial_product.
(* coefficients: polynomials in the parameters; table: for every output entry polynomials in the input, so that the entry is
   the sum of coefficients times these *)
Definition coefficients_check (n width t : nat) (net : list node) (output : nat) (coefficients : list polynomial)
    (table : list (list polynomial)) : bool :=
  let entries := concat (expansion n width t net output) in
  (Nat.eqb (length table) (length entries) && forallb (uses_only 0 n) coefficients &&
  forallb (forallb (uses_only n (n + width * t))) table &&
  forallb (fun pair => polynomial_equal (fst pair) (polynomial_dot coefficients (snd pair))) (combine entries table))%bool.

Lemma polynomial_equal_value : forall point p q, polynomial_equal p q = true -> dual_value point p = dual_value point q.
Proof.
  intros point p q H. unfold polynomial_equal in H.
  assert (E : dual_value point (polynomial_sum p (polynomial_product (number (-1)) q)) = dzero)
    by (destruct (polynomial_sum p (polynomial_product (number (-1)) q)); [reflexivity|discriminate]).
  rewrite dual_sum, dual_product, dual_number in E. change (-1, 0) with (dopp done) in E.
  replace (dual_value point p) with
    (dadd (dadd (dual_value point p) (dmul (dopp done) (dual_value point q))) (dual_value point q)) by ring.
  rewrite E. ring.
Qed.
Lemma dual_value_cong : forall first last p point point', uses_only first last p = true ->
  (forall j, (first <= j < last)%nat -> nth j point dzero = nth j point' dzero) -> dual_value point p = dual_value point' p.
Proof.
  intros first last p point point' U H. induction p as [|[c m] p IH]; [reflexivity|]. cbn in U |- *.
  apply Bool.andb_true_iff in U. destruct U as [U V]. rewrite (IH V). f_equal. f_equal. clear IH V.
  induction m as [|j m IH]; [reflexivity|]. cbn in U |- *. apply Bool.andb_true_iff in U. destruct U as [U V].
  rewrite (IH V). f_equal. apply H. apply Bool.andb_true_iff in U. destruct U as [A B]. apply Z.leb_le in A. apply Z.ltb_lt in B. lia.
Qed.
Lemma dual_value_constant : forall first last p point, uses_only first last p = true ->
  (forall j, (first <= j < last)%nat -> snd (nth j point dzero) = 0) -> dual_value point p = (fst (dual_value point p), 0).
Proof.
  intros first last p point U H. rewrite (surjective_pairing (dual_value point p)) at 1. f_equal.
  induction p as [|[c m] p IH]; [reflexivity|]. cbn in U |- *.
  apply Bool.andb_true_iff in U. destruct U as [U V]. rewrite (IH V). clear IH V.
  assert (E : snd (dual_monomial point m) = 0).
  { induction m as [|j m IH]; [reflexivity|]. cbn in U |- *. apply Bool.andb_true_iff in U. destruct U as [U V].
    rewrite (IH V), H; [ring|]. apply Bool.andb_true_iff in U. destruct U as [A B]. apply Z.leb_le in A. apply Z.ltb_lt in B. lia. }
  rewrite E. ring.
Qed.
(* the first component depends on the first components only *)
Lemma dual_value_first : forall p point point', map fst point = map fst point' ->
  fst (dual_value point p) = fst (dual_value point' p).
Proof.
  intros p point point' H.
  assert (N : forall k, fst (nth k point dzero) = fst (nth k point' dzero)).
  { intros k. transitivity (nth k (map fst point) (fst dzero)); [symmetry; apply map_nth|].
    rewrite H. apply map_nth. }
  induction p as [|[c m] p IH]; [reflexivity|]. cbn [dual_value dadd dmul fst]. rewrite IH. f_equal. f_equal. clear IH.
  induction m as [|j m IH]; [reflexivity|]. cbn [dual_monomial dmul fst]. rewrite IH, N. reflexivity.
Qed.

Definition constants (x : list Z) : list dual := map (fun a => (a, 0)) x.
Fixpoint weight (y : list Z) (table : list (list Z)) (m : nat) : Z :=
  match y, table with a :: y', b :: rest => a * nth m b 0 + weight y' rest m | _, _ => 0 end.
Lemma dot_constants : forall B b, snd (dot B (constants b)) = sum (length B) (fun m => nth m b 0 * snd (nth m B dzero)).
Proof.
  induction B as [|x B IH]; intros b; [reflexivity|]. cbn [length]. rewrite sum_first. destruct b as [|a b].
  - cbn. rewrite sum_zero; [reflexivity|]. intros. ring.
  - cbn [constants map dot nth]. cbn [dadd dmul fst snd]. change (map (fun a => (a, 0)) b) with (constants b). rewrite IH. ring.
Qed.
Lemma weighted : forall B y table,
  snd (dot (constants y) (map (fun b => dot B (constants b)) table)) =
  sum (length B) (fun m => weight y table m * snd (nth m B dzero)).
Proof.
  intros B. induction y as [|a y IH]; intros table; [cbn; rewrite sum_zero; [reflexivity|intros; ring]|].
  destruct table as [|b table]; [cbn; rewrite sum_zero; [reflexivity|intros; ring]|].
  cbn [constants map dot weight]. cbn [dadd dmul fst snd]. change (map (fun a => (a, 0)) y) with (constants y).
  rewrite IH, dot_constants. rewrite Z.mul_0_l, Z.add_0_r, <- sum_scale, <- sum_plus. apply sum_ext. intros. ring.
Qed.
Lemma concat_constant : forall A, concat (constant A) = constants (concat A).
Proof. intros. unfold constant, constants. symmetry. apply concat_map. Qed.
Lemma first_of_along : forall theta u, length u = length theta -> map fst (along theta u) = theta.
Proof. induction theta as [|a theta IH]; intros [|b u] H; try discriminate; [reflexivity|]. cbn in *. unfold along in IH. rewrite IH by lia. reflexivity. Qed.
Lemma map_combine : forall (A B C : Type) (f : A -> C) (g : B -> C) x y, length x = length y ->
  (forall a b, In (a, b) (combine x y) -> f a = g b) -> map f x = map g y.
Proof.
  induction x as [|a x IH]; intros [|b y] L H; try discriminate; [reflexivity|]. cbn. f_equal.
  - apply H. left. reflexivity.
  - apply IH; [cbn in L; lia|]. intros. apply H. right. assumption.
Qed.

Section Coefficients.
Variables (n width t : nat) (net : list node) (output : nat) (coefficients : list polynomial) (table : list (list polynomial)).
Hypothesis all_checked : coefficients_check n width t net output coefficients table = true.

Let numbers (theta : list Z) (X : list (list Z)) : list (list Z) :=
  map (map (fun q => fst (dual_value (constants theta ++ concat (constant X)) q))) table.

Lemma gradient_of_coefficients : forall theta Y X k, length theta = n -> is_matrix width t X ->
  gradient (run t net output) n theta Y X k = sum (length coefficients) (fun m =>
    weight (concat Y) (numbers theta X) m * snd (dual_value (along theta (unit_vector n k)) (nth m coefficients []))).
Proof.
  intros theta Y X k Ht HX. pose proof all_checked as H. unfold coefficients_check in H. cbv zeta in H.
  rewrite !Bool.andb_true_iff in H. destruct H as [[[L U] V] E]. apply Nat.eqb_eq in L.
  rewrite forallb_forall in U, V, E. destruct (constant_ok _ _ _ HX) as [LX [RX SX]].
  assert (Lu : length (unit_vector n k) = n) by (unfold unit_vector; rewrite map_length; apply seq_length).
  assert (La : length (along theta (unit_vector n k)) = n) by (etransitivity; [apply combine_length|lia]).
  unfold gradient, pairing. set (a := along theta (unit_vector n k)) in *. set (point := a ++ concat (constant X)).
  set (B := map (dual_value a) coefficients).
  rewrite (expansion_value n width t net output a (constant X) La LX RX), concat_constant.
  rewrite <- concat_map. fold point.
  assert (Q : map (dual_value point) (concat (expansion n width t net output)) =
    map (fun b => dot B (constants b)) (numbers theta X)).
  { unfold numbers. rewrite map_map. apply map_combine; [symmetry; assumption|]. intros p qs I.
    specialize (E _ I). cbn [fst snd] in E. rewrite (polynomial_equal_value point _ _ E).
    unfold polynomial_dot. rewrite (h_dot _ _ _ _ _ dzero dadd dmul (dual_value point)); try reflexivity;
      [|apply dual_sum|apply dual_product].
    change (ring_dot dual dzero dadd dmul) with dot. f_equal.
    - apply map_ext_in. intros b Hb. apply (dual_value_cong 0 n); [apply U; assumption|].
      intros j Hj. unfold point. apply app_nth1. lia.
    - unfold constants. rewrite map_map. apply map_ext_in. intros q Hq.
      assert (Hu : uses_only n (n + width * t) q = true).
      { apply in_combine_r in I. specialize (V _ I). rewrite forallb_forall in V. apply V. assumption. }
      rewrite (dual_value_constant _ _ _ _ Hu).
      + f_equal. apply dual_value_first. unfold point. rewrite !map_app. f_equal. unfold a.
        rewrite first_of_along by lia. symmetry. clear. induction theta as [|x theta IH]; [reflexivity|]. cbn. f_equal. exact IH.
      + intros j Hj. unfold point. rewrite app_nth2 by lia. rewrite concat_constant.
        rewrite (map_nth (fun a => (a, 0)) (concat X) 0). reflexivity. }
  rewrite Q, weighted. unfold B at 1. rewrite map_length. apply sum_ext. intros m Hm. f_equal. f_equal.
  unfold B. apply nth_of_map. assumption.
Qed.

Theorem checked_coefficients_bound_the_rank : forall theta, length theta = n -> forall m, (length coefficients < m)%nat ->
  forall Y X : nat -> list (list Z), (forall i, (i < m)%nat -> is_matrix width t (X i)) ->
  exists c : nat -> Z, (exists i, (i < m)%nat /\ c i <> 0) /\
  forall k, (k < n)%nat -> sum m (fun i => c i * gradient (run t net output) n theta (Y i) (X i) k) = 0.
Proof.
  intros theta Ht m Hm Y X HX.
  destruct (dependent_rows (length coefficients) m (fun i j => weight (concat (Y i)) (numbers theta (X i)) j) Hm) as [c [Hc E]].
  exists c. split; [exact Hc|]. intros k Hk.
  rewrite (sum_ext m _ (fun i => sum (length coefficients) (fun j =>
    snd (dual_value (along theta (unit_vector n k)) (nth j coefficients [])) * (c i * weight (concat (Y i)) (numbers theta (X i)) j)))).
  - rewrite sum_swap. apply sum_zero. intros j Hj. rewrite sum_scale, E by assumption. ring.
  - intros i Hi. rewrite (gradient_of_coefficients theta (Y i) (X i) k Ht (HX i Hi)), <- sum_scale. apply sum_ext. intros. ring.
Qed.
End Coefficients.
